/* Elements of HTML and SVG. */
const built = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
};
function el(name, attributes, ...children) {
  return built(document.createElement(name), attributes, children);
}
function svg(name, attributes, ...children) {
  return built(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}
