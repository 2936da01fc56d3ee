const LOOKS = {
  brand: "font-size: 14px; font-weight: 650; letter-spacing: -0.01em; margin: 0",
  title: "font-size: var(--wf-title-size); font-weight: 600; margin: 0; letter-spacing: -0.01em",
  headline: "font-size: 14px; font-weight: 600; margin: 0; line-height: 1.35",
  heading: "font-size: var(--wf-heading-size); font-weight: 600; margin: 0",
  body: "font-size: var(--wf-body-size); margin: 0; line-height: 1.45",
  quiet: "font-size: var(--wf-small-size); margin: 0; line-height: 1.45; color: var(--wf-quiet)",
  report: "font: var(--wf-small-size)/1.5 ui-monospace, monospace; margin: 0; tab-size: 2",
  error: "font-size: var(--wf-body-size); margin: 0; line-height: 1.45; color: var(--wf-error); "
    + "font-weight: 500",
}

const TAGS = {brand: "h1", title: "h2", heading: "h3"}

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
