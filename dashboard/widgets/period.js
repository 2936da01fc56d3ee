// Two dates and the months of the year. Native fields: they can be typed, and speak the language of
// the browser.
const STYLE = `
  .dates {display: grid; grid-template-columns: 1fr 1fr; gap: 8px}
  label {display: flex; flex-direction: column; gap: 2px; font-size: var(--wf-tiny-size);
    color: var(--wf-quiet)}
  input {box-sizing: border-box; width: 100%; min-width: 0; font: inherit; color: var(--wf-ink);
    font-size: var(--wf-small-size); background: none; border: 1px solid var(--wf-line);
    border-radius: var(--wf-radius); padding: 5px 6px}
  input:hover {border-color: var(--wf-quiet)}
  input:focus-visible, button:focus-visible {outline: 2px solid var(--wf-accent)}
  .months {display: grid; grid-template-columns: repeat(12, 1fr); gap: 2px; margin-top: 8px}
  button {font: inherit; font-size: var(--wf-tiny-size); color: var(--wf-quiet); background: none;
    border: 1px solid transparent; border-radius: 4px; padding: 3px 0; cursor: pointer}
  button:hover {border-color: var(--wf-line)}
  button[aria-pressed=true] {color: var(--wf-paper); background: var(--wf-accent)}`

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August",
  "September", "October", "November", "December"]

function date_field(model, name, text) {
  const label = document.createElement("label")
  const input = document.createElement("input")
  input.type = "date"
  label.append(text, input)
  const show = () => {
    input.min = model.start
    input.max = model.end
    input.value = model[name]
  }
  input.addEventListener("change", () => {
    // A date that is being typed passes through others; one out of the record is none.
    if (input.value && input.validity.valid) model[name] = input.value
    else if (!input.value) model[name] = name === "first" ? model.start : model.end
  })
  model.on([name, "start", "end"], show)
  show()
  return label
}

export function render({model}) {
  const dates = document.createElement("div")
  dates.className = "dates"
  dates.append(date_field(model, "first", "From"), date_field(model, "last", "To"))
  const months = document.createElement("div")
  months.className = "months"
  months.setAttribute("role", "group")
  months.setAttribute("aria-label", "Months of the year that count; all if none is chosen")
  months.append(...MONTHS.map((name, place) => {
    const button = document.createElement("button")
    button.type = "button"
    button.textContent = name[0]
    button.title = name
    button.setAttribute("aria-label", name)
    button.addEventListener("click", () => {
      const [number, chosen] = [place + 1, model.months]
      model.months = chosen.includes(number)
        ? chosen.filter((other) => other !== number)
        : [...chosen, number].sort((a, b) => a - b)
    })
    return button
  }))
  const draw = () => [...months.children].forEach((button, place) =>
    button.setAttribute("aria-pressed", model.months.includes(place + 1)))
  model.on("months", draw)
  draw()
  const style = document.createElement("style")
  style.textContent = STYLE
  const root = document.createElement("div")
  root.append(style, dates, months)
  return root
}
