#include "frontend/driver/repl/answer.h"
#include "frontend/report/json_parts.h"

namespace mtf {

std::string value_json(std::string_view name, const host::Value& value, const PlanDevice& device,
                       const host::Context& context) {
  Json json;
  json["name"] = name;
  const Mesh& mesh = device.layout().mesh;
  const std::optional<Placed> tensor = placed(value, device);
  if (!tensor) {
    json["value"] = value_text(value, device, context);
    return dump(json);
  }
  const Shape& shape = tensor->type.shape;
  const Shape local = local_shape(shape, tensor->layout, mesh);
  json["dtype"] = to_string(tensor->type.dtype);
  json["dims"] = Json::array();
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    json["dims"].push_back({{"dim", shape[d].name},
                            {"size", shape[d].size},
                            {"axes", axes_json(mesh, tensor->layout.dims[d])},
                            {"slice", local[d].size}});
  }
  json["bytes"] = bytes_a_rank(*tensor, mesh);
  json["ranks"] = mesh.ranks();
  return dump(json);
}

std::string fields_json(const Fields& fields) {
  Json json = Json::object();
  for (const auto& [key, field] : fields) {
    std::visit([&, key = key](const auto& value) { json[std::string(key)] = value; }, field);
  }
  return dump(json);
}

std::string moved_json(std::string_view in_use, const std::vector<Moved>& moved) {
  Json json;
  json["in_use"] = in_use;
  json["moved"] = Json::array();
  for (const Moved& one : moved) {
    Json& entry = json["moved"].emplace_back(
        Json{{"name", one.name}, {"from", one.from}, {"to", one.to}, {"slice", one.slice}});
    if (one.bytes) {
      entry["bytes"] = *one.bytes;
    }
  }
  return dump(json);
}

std::string printed_json(std::string_view line) {
  Json json;
  json["print"] = line;
  return dump(json);
}

}  // namespace mtf
