#include "frontend/report/json_parts.h"
#include "frontend/report/show/shown.h"

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

Json product_json(const ProductPicture& product) {
  Json json = {{"op", product.text}};
  for (const auto& [key, side] : {std::pair{"left", &product.left}, {"right", &product.right}}) {
    json[key] = json_of(side->picture);
  }
  const auto names = [](const ProductSide& side, const std::vector<std::size_t>& dims) {
    Json list = Json::array();
    for (const std::size_t d : dims) {
      list.push_back(side.picture.type.shape[d].name);
    }
    return list;
  };
  json["down"] = names(product.left, product.left.placing.rows);
  json["summed"] = names(product.left, product.left.placing.columns);
  json["across"] = names(product.right, product.right.placing.columns);
  json["in_all"] = names(product.result, product.result.placing.others);
  return json;
}

Json move_json(const MovePicture& move) {
  const Mesh& mesh = move.to.mesh;
  Json json = {{"op", move.text},
               {"kind", to_string(move.kind)},
               {"axes", axes_json(mesh, move.axes)},
               {"adds", move.adds}};
  if (mesh.ranks() > kMostRanksShown) {
    return json;
  }
  json["groups"] = groups_of(move);
  json["deliveries"] = Json::array();
  for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    for (const Delivery& delivery : deliveries_to(move, rank)) {
      Json& part = json["deliveries"].emplace_back(Json{{"from", delivery.from},
                                                        {"to", delivery.to},
                                                        {"offset", delivery.part.offset},
                                                        {"extent", delivery.part.extent}});
      if (!delivery.step.empty()) {
        part["step"] = delivery.step;
      }
    }
  }
  return json;
}

}  // namespace

std::string shown_json(std::span<const Shown> forms) {
  Json list = Json::array();
  for (const Shown& shown : forms) {
    Json& json = list.emplace_back(json_of(shown.picture));
    if (shown.product) {
      json["product"] = product_json(*shown.product);
    }
    if (shown.move) {
      json["move"] = move_json(*shown.move);
    }
  }
  return dump({{"pictures", std::move(list)}});
}

std::string mesh_picture_json(std::span<const Mesh> meshes) {
  Json list = Json::array();
  for (const Mesh& mesh : meshes) {
    Json places = Json::array();  // of each rank its place along the axes
    for (std::int64_t rank = 0; rank < mesh.ranks() && mesh.ranks() <= kMostRanksShown; ++rank) {
      places.push_back(mesh.coordinates(rank));
    }
    list.push_back({{"mesh", mesh.name},
                    {"axes", mesh_json(mesh)},
                    {"ranks", mesh.ranks()},
                    {"places", std::move(places)}});
  }
  return dump({{"meshes", std::move(list)}});
}

}  // namespace mtf
