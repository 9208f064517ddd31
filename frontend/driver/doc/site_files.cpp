#include "frontend/driver/doc/site.h"

namespace mtf {

std::string_view site_style() {
  return R"(:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: #0b62c4; }
@media (prefers-color-scheme: dark) { :root { --link: #7db8ff; } }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 0 1.2rem 4rem; }
header { display: flex; flex-wrap: wrap; gap: .6rem 1.2rem; align-items: center; position: sticky; top: 0;
  background: Canvas; padding: .7rem 0; border-bottom: 1px solid var(--line); z-index: 1; }
header input { flex: 1 1 14rem; font: inherit; padding: .3rem .6rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre { font: .92em/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: .7rem .9rem; overflow-x: auto; }
pre.output { border-style: dashed; background: none; }
:not(pre) > code { background: var(--soft); padding: .05em .25em; border-radius: 3px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: left; vertical-align: top; }
section { border-top: 1px solid var(--line); margin-top: 1.6rem; }
h1, h2, h3 { line-height: 1.25; scroll-margin-top: 4.5rem; }
section { scroll-margin-top: 4rem; }
#found { list-style: none; margin: 0; padding: 0; }
#found { position: sticky; top: 3.7rem; background: Canvas; z-index: 1; max-height: 75vh; overflow-y: auto; }
#found:not(:empty) { border: 1px solid var(--line); margin: .6rem 0; padding: .5rem .9rem; }
#found small { opacity: .75; display: block; }
nav ul { columns: 16rem; }
)";
}

std::string_view site_script() {
  return R"(const box = document.getElementById("search");
const list = document.getElementById("found");
function score(entry, words) {
  const title = entry[0].toLowerCase(), text = entry[2].toLowerCase();
  let sum = 0;
  for (const word of words) {
    if (title === word || title.endsWith("." + word)) sum += 100;
    else if (title.startsWith(word)) sum += 40;
    else if (title.includes(word)) sum += 20;
    else if (text.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}
function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  return (at > 0 ? "…" : "") + text.slice(at, at + 130).replace(/\s+/g, " ");
}
function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  list.replaceChildren();
  if (words.length === 0) return;
  const found = INDEX.map((entry) => [score(entry, words), entry]).filter((one) => one[0] > 0);
  found.sort((a, b) => b[0] - a[0]);
  for (const [, entry] of found.slice(0, 12)) {
    const item = document.createElement("li"), link = document.createElement("a");
    const text = document.createElement("small");
    link.href = entry[1];
    link.textContent = entry[0];
    text.textContent = excerpt(entry[2], words[words.length - 1]);
    item.append(link, text);
    list.append(item);
  }
  if (found.length === 0) list.append(Object.assign(document.createElement("li"), { textContent: "nothing found" }));
}
box.addEventListener("input", search);
list.addEventListener("click", () => { box.value = ""; setTimeout(search, 0); });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); }
});
)";
}

}  // namespace mtf
