const STYLE = `
  fieldset {box-sizing: border-box; width: 100%; height: 38px; margin: 0 0 4px; padding: 0 4px;
    border: 1px solid var(--wf-line); border-radius: var(--wf-radius);
    display: flex; align-items: center; min-inline-size: 0}
  fieldset:hover {border-color: var(--wf-quiet)}
  fieldset:focus-within {border-color: var(--wf-accent); outline: 1px solid var(--wf-accent)}
  legend {font-size: var(--wf-tiny-size); color: var(--wf-quiet); line-height: 1; padding: 0 4px; margin-left: 5px}
  button.help {display: inline-flex; justify-content: center; width: 11px; height: 11px;
    margin: 0 0 0 5px; border: 1px solid currentColor; border-radius: 50%; opacity: 1;
    font: 600 7.5px/9px sans-serif; vertical-align: 1px; cursor: help}
  .about {margin: 0 6px 8px; font-size: 0.8rem; line-height: 1.4; opacity: 0.75}
  input[type=text], select {flex: 1; min-width: 0; font: inherit; font-size: var(--wf-body-size); color: inherit;
    background: none; border: 0; outline: none; padding: 0 8px 6px}
  select {appearance: none; cursor: pointer}
  .choice::after {content: ""; margin: 0 9px 5px; border: 5px solid transparent;
    border-top-color: currentColor; border-bottom: 0; opacity: 0.6; pointer-events: none}
  option {background: Canvas; color: CanvasText}
  button {flex: none; width: 26px; height: 24px; margin-bottom: 5px; padding: 0; border: 0;
    border-radius: 4px; background: none; color: inherit; opacity: 0.6; font: 1.2rem/1 sans-serif;
    cursor: pointer}
  button:hover {opacity: 1; background: color-mix(in srgb, currentColor 9%, transparent)}
  button:disabled {opacity: 0.25; cursor: default; background: none}
  .switch {display: flex; align-items: center; margin: 4px 0 8px 4px}
  .switch label {padding-left: 10px; cursor: pointer}
  input[type=checkbox] {width: 18px; height: 18px; margin: 0; accent-color: var(--wf-accent)}`

const element = (tag, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), attributes)
  made.append(...children)
  return made
}

const about_of = ({name, help}) =>
  element("p", {id: `about-${name}`, className: "about", textContent: help, hidden: true})

// What a field is for: on hover, and below the field for those who have no mouse.
function help_of(field, about) {
  const button = element("button", {
    type: "button", className: "help", title: field.help, textContent: "i",
    ariaLabel: `About ${field.label}`, ariaExpanded: "false",
  })
  button.addEventListener("click", (event) => {
    event.preventDefault()
    about.hidden = !about.hidden
    button.ariaExpanded = String(!about.hidden)
  })
  return button
}

function within(field, number) {
  const whole = field.kind === "int" ? Math.round(number) : number
  return Math.min(Math.max(whole, field.low ?? -Infinity), field.high ?? Infinity)
}

// Of whole numbers, a comma parts thousands; of others it may be the decimal mark.
function number_in(field, text) {
  const plain = text.replace(/\s/g, "").replace(/,/g, field.kind === "int" ? "" : ".")
  return plain === "" ? NaN : Number(plain)
}

function written(field, value) {
  return field.kind === "float" && Number.isInteger(value) ? value.toFixed(1) : String(value)
}

// Each kind of field returns its control, what is put in its frame, and how it shows a value.

function number_field(field, value, tell) {
  const step = field.kind === "int" ? 1 : 0.1
  const input = element("input", {
    type: "text", inputMode: field.kind === "int" ? "numeric" : "decimal", autocomplete: "off",
    role: "spinbutton", ariaValueMin: field.low, ariaValueMax: field.high,
  })
  // For the mouse; the keyboard has its arrows.
  const stepper = {type: "button", tabIndex: -1, ariaHidden: "true"}
  const less = element("button", {...stepper, textContent: "−"})
  const more = element("button", {...stepper, textContent: "+"})
  const show = (now) => {
    input.value = written(field, now)
    input.ariaValueNow = now
    less.disabled = field.low !== null && now <= field.low
    more.disabled = field.high !== null && now >= field.high
  }
  const use = (number) => {
    const before = value()
    const after = Number.isFinite(number) ? within(field, number) : before
    show(after)
    if (after !== before) {
      tell(after)
    }
  }
  const move = (by) => {
    const typed = number_in(field, input.value)
    const from = Number.isFinite(typed) ? typed : value()
    use(Number((from + by * step).toPrecision(12)))  // 0.1 + 0.2 is to be 0.3
  }
  input.addEventListener("change", () => use(number_in(field, input.value)))
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault()
      move(event.key === "ArrowUp" ? 1 : -1)
    }
  })
  less.addEventListener("click", () => move(-1))
  more.addEventListener("click", () => move(1))
  return {control: input, parts: [less, input, more], show}
}

function choice_field(field, value, tell) {
  const options = field.choices.map((choice) => element("option", {textContent: choice}))
  const select = element("select", {}, ...options)
  select.addEventListener("change", () => tell(select.value))
  const show = (now) => (select.value = now)
  return {control: select, parts: [select], className: "choice", show}
}

function switch_field(field, value, tell) {
  const box = element("input", {type: "checkbox"})
  box.addEventListener("change", () => tell(box.checked))
  return {control: box, parts: [box], show: (now) => (box.checked = now)}
}

function make_field(field, value, tell) {
  const kind = field.choices.length ? choice_field
    : field.kind === "bool" ? switch_field : number_field
  const made = kind(field, value, tell)
  made.control.id = `field-${field.name}`
  const about = about_of(field)
  made.control.setAttribute("aria-describedby", about.id)
  made.show(value())
  const help = help_of(field, about)
  const label = element("label", {htmlFor: made.control.id, textContent: field.label})
  const box = made.control.type === "checkbox"
    ? element("div", {className: "switch"}, ...made.parts, label, help)
    : element("fieldset", {className: made.className ?? "", role: "presentation"},
      element("legend", {}, label, help), ...made.parts)
  return {...made, frame: element("div", {}, box, about)}
}

export function render({model}) {
  const form = element("div")
  let fields = []
  const draw = () => {
    fields = model.fields.map((field) => ({
      name: field.name,
      ...make_field(
        field,
        () => model.values[field.name],
        (value) => (model.values = {...model.values, [field.name]: value}),
      ),
    }))
    form.replaceChildren(...fields.map((field) => field.frame))
  }
  const follow = () => {
    for (const {name, show} of fields) {
      if (name in model.values) {
        show(model.values[name])
      }
    }
  }
  model.on("fields", draw)
  model.on("values", follow)
  draw()
  return element("div", {}, element("style", {textContent: STYLE}), form)
}
