#include "frontend/report/json_parts.h"
#include "frontend/report/show/blocks.h"

namespace mtf {
namespace {

Json json_of(const Picture& picture) {
  const Shape& shape = picture.type.shape;
  Json json;
  json["value"] = picture.name;
  json["dtype"] = to_string(picture.type.dtype);
  json["mesh"] = mesh_json(picture.mesh);
  json["dims"] = Json::array();
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    json["dims"].push_back({{"dim", shape[d].name},
                            {"size", shape[d].size},
                            {"axes", axes_json(picture.mesh, picture.layout.dims[d])}});
  }
  json["partial"] = axes_json(picture.mesh, picture.layout.partial);
  json["blocks"] = Json::array();
  if (picture.mesh.ranks() > kMostRanksShown) {
    json["blocks"] = nullptr;  // too many
    return json;
  }
  const Blocks blocks = blocks_of(shape, picture.layout, picture.mesh);
  for (const Block& block : blocks.list) {
    json["blocks"].push_back({{"offset", block.slice.offset},
                              {"extent", block.slice.extent},
                              {"holders", block.holders}});
  }
  json["nothing"] = blocks.nothing;
  return json;
}

}  // namespace

std::string picture_json(const Picture& picture) {
  return dump(json_of(picture));
}

std::string pictures_json(std::span<const Picture> pictures) {
  Json list = Json::array();
  for (const Picture& picture : pictures) {
    list.push_back(json_of(picture));
  }
  return dump({{"pictures", std::move(list)}});
}

}  // namespace mtf
