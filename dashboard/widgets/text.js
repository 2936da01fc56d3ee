const LOOKS = {
  title: "font-size: 1.15rem; font-weight: 600; margin: 0",
  heading: "font-size: 0.82rem; font-weight: 600; margin: 0; letter-spacing: 0.01em",
  body: "font-size: 0.85rem; margin: 0; line-height: 1.4",
  quiet: "font-size: 0.8rem; margin: 0; line-height: 1.4; opacity: 0.72",
  report: "font: 0.78rem/1.5 ui-monospace, monospace; margin: 0; tab-size: 2",
  error: "font-size: 0.85rem; margin: 0; line-height: 1.4; color: #d32f2f; font-weight: 500",
}

const TAGS = {title: "h2", heading: "h3"}

export function render({model}) {
  const element = document.createElement(TAGS[model.look] ?? "p")
  if (model.look === "error") {
    element.setAttribute("role", "alert")
  }
  const draw = () => {
    element.style.cssText = `${LOOKS[model.look]}; overflow-wrap: anywhere`
    element.style.whiteSpace = model.look === "report" ? "pre-wrap" : "pre-line"
    element.textContent = model.text
  }
  model.on("text", draw)
  draw()
  return element
}
