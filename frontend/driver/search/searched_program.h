// The program whose layout is searched: its entries on each mesh that there may be, the layout that
// a person has fixed, and what the hardware does.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/driver/devices/checked.h"
#include "lowering/search/pricer.h"
#include "lowering/search/space/space.h"

namespace mtf {

using DimSizes = std::map<std::string, std::int64_t, std::less<>>;

class SearchedProgram {
 public:
  // `fixed`: what a layout of the file says already; none: nothing, on the mesh of the options.
  // Null after an error, which is in `diags`.
  static std::unique_ptr<SearchedProgram> read(Workspace& workspace, FileId file,
                                               const std::optional<Layout>& fixed, DiagSink& diags);

  [[nodiscard]] const std::vector<std::string>& entries() const { return entries_; }
  [[nodiscard]] const SpaceLimits& limits() const { return limits_; }
  // From here on it is about meshes of so many ranks, of any shape; 0: about the declared one.
  void set_ranks(std::int64_t ranks);
  // … and about a program that declares a dim of this size.
  void set_size(std::string_view dim, std::int64_t size);
  // The `recompute` blocks of the file, and the one whose values are kept from here on.
  [[nodiscard]] std::vector<SourceSpan> recomputed() const;
  void set_kept(std::optional<SourceSpan> block);
  // Of a dim that the file declares; nullopt after an error: it declares none of that name.
  [[nodiscard]] std::optional<std::int64_t> declared_size(std::string_view dim,
                                                          DiagSink& diags) const;
  // The mesh of the file; without axes if it declares none.
  [[nodiscard]] const Mesh& declared_mesh() const { return declared_; }
  // All that the file declares.
  [[nodiscard]] std::span<const Mesh> meshes() const { return unsplit_->session.meshes(); }
  // By name, what every size of the dim is a multiple of; without those that are to stay whole.
  [[nodiscard]] DimSizes common_sizes();
  // The entries on a mesh of the limits, simplified. Empty where they cannot be built on it.
  [[nodiscard]] std::span<const Program> programs(std::size_t mesh);
  [[nodiscard]] Hardware hardware(const Mesh& mesh);
  // Whether an entry has an `expect` that holds for what is searched.
  [[nodiscard]] bool expects() const;
  // What an entry is expected to keep to.
  [[nodiscard]] std::vector<const Expectation*> expected(std::size_t entry) const;
  // All of them as text.
  [[nodiscard]] std::string expectations() const;
  [[nodiscard]] const ast::File& tree() const { return unsplit_->session.file(); }
  // Whether the answer's mesh is not the declared one.
  [[nodiscard]] bool makes_mesh() const { return is_resized_; }
  // One of the meshes as it is declared: without axes of one rank that nothing names.
  [[nodiscard]] Mesh written_mesh(const Mesh& mesh) const;
  // Flops of all entries on one rank.
  [[nodiscard]] double useful_flops();

 private:
  SearchedProgram(Workspace& workspace, FileId file, std::unique_ptr<DiagSink> said,
                  std::unique_ptr<CheckedProgram> unsplit)
      : workspace_(workspace), file_(file), said_(std::move(said)), unsplit_(std::move(unsplit)) {}

  // What is fixed, from the file and the options; false after an error.
  [[nodiscard]] bool choose_fixed(const std::optional<Layout>& fixed, DiagSink& diags);
  [[nodiscard]] std::string free_name() const;
  void choose_limits();
  [[nodiscard]] std::optional<ast::File> sized_tree(DiagSink& diags) const;
  [[nodiscard]] std::vector<std::string> dim_names() const;
  [[nodiscard]] bool check_dims(DiagSink& diags) const;
  // The block of a `recompute` becomes one of `if true`.
  static void keep_block(ast::File& tree, SourceSpan block);
  void note_beside(const CheckedProgram& program, std::span<const Program> entries);
  [[nodiscard]] std::vector<Program> built(const Mesh& mesh);
  void keep_contracts(const Unit& unit, std::size_t entry);

  Workspace& workspace_;
  FileId file_;
  std::unique_ptr<DiagSink> said_;  // by the session, for as long as it lives
  std::unique_ptr<CheckedProgram> unsplit_;
  std::vector<std::string> entries_;
  SpaceLimits limits_;
  Mesh declared_;
  bool is_resized_ = false;  // the declared mesh has other sizes
  std::optional<SourceSpan> kept_;
  DimSizes sizes_;                                        // of dims that are declared otherwise
  std::map<std::size_t, std::vector<Program>> programs_;  // by mesh; of one where all are alike
  std::vector<std::vector<Contract>> contracts_;          // by entry
};

}  // namespace mtf
