const STYLE = `
  /* What is to be done next stands below, and stays in sight. */
  .form {font-size: 0.85rem; line-height: 1.4; display: flex; flex-direction: column; gap: 12px;
    max-height: max(240px, calc(100vh - 300px)); overflow-y: auto; padding-right: 4px}
  .form.busy {opacity: 0.55}
  h3 {font-size: 0.82rem; font-weight: 600; margin: 0 0 4px}
  p {margin: 0; overflow-wrap: anywhere}
  .quiet {opacity: 0.72; font-size: 0.8rem}
  .problem {color: #d32f2f; font-weight: 500}
  .box {border: 1px solid color-mix(in srgb, currentColor 22%, transparent); border-radius: 8px;
    padding: 10px 12px}
  .question {border-left: 4px solid #f59e0b}
  .question label {display: flex; gap: 8px; align-items: center; padding: 3px 0; cursor: pointer}
  .odd {border-left: 4px solid #f59e0b; padding-left: 8px; font-weight: 500}
  .answers {display: flex; flex-wrap: wrap; gap: 6px}
  .answers button, th button {font: inherit; font-size: 0.75rem; color: inherit; cursor: pointer;
    border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-radius: 10px;
    background: none; padding: 1px 8px}
  .fields {display: grid; grid-template-columns: repeat(auto-fill, minmax(215px, 1fr)); gap: 8px 12px}
  .fields label {display: flex; flex-direction: column; gap: 2px; min-width: 0}
  .fields label.check {flex-direction: row; align-items: center; gap: 8px; grid-column: 1 / -1}
  .fields span {font-size: 0.75rem; opacity: 0.75}
  .fields .check span {font-size: 0.85rem; opacity: 1}
  select, input[type=text] {font: inherit; color: inherit; background: transparent; min-width: 0;
    width: 100%; box-sizing: border-box; height: 32px; padding: 0 6px; border-radius: 5px;
    border: 1px solid color-mix(in srgb, currentColor 30%, transparent); text-overflow: ellipsis}
  select:focus-visible, input:focus-visible, button:focus-visible {outline: 2px solid #3b82f6;
    outline-offset: 1px}
  option {background: Canvas; color: CanvasText}
  .changed select, .changed input[type=text] {border-color: #3b82f6; border-width: 2px}
  input[type=checkbox], input[type=radio] {accent-color: #3b82f6; width: 16px; height: 16px;
    margin: 0; flex: none}
  .table {overflow-x: auto; border: 1px solid color-mix(in srgb, currentColor 22%, transparent);
    border-radius: 8px}
  table {border-collapse: collapse; font-size: 0.78rem; width: 100%}
  th, td {padding: 3px 10px; text-align: left; white-space: nowrap; max-width: 220px;
    overflow: hidden; text-overflow: ellipsis}
  th {font-weight: 600; vertical-align: top;
    border-bottom: 1px solid color-mix(in srgb, currentColor 22%, transparent)}
  td {font-family: ui-monospace, monospace}
  tr:nth-child(even) td {background: color-mix(in srgb, currentColor 4%, transparent)}
  .role {display: block; font-weight: 400; font-size: 0.72rem}
  .role.used {color: #3b82f6; font-weight: 600}
  .role.unused, td.unused {opacity: 0.55}
  .sum {display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 2px 0 4px}
  .sum b {font-size: 1rem}
  .reasons {display: grid; grid-template-columns: max-content 1fr; gap: 1px 14px; margin: 0}
  .reasons dd {margin: 0; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap}
  ul {margin: 6px 0 0; padding-left: 18px}
  @media (max-width: 600px) {.reasons {grid-template-columns: 1fr} .reasons dd {margin-left: 12px}}`

const element = (tag, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), attributes)
  made.append(...children.filter((child) => child !== null))
  return made
}

const count = (number) => number.toLocaleString("en")

function question_of(question, number, send) {
  const choices = question.choices.map((label, place) => {
    const radio = element("input", {type: "radio", name: `question-${number}`})
    radio.addEventListener("change", () => send({answer: [number, place]}))
    return element("label", {}, radio, element("span", {textContent: label}))
  })
  return element("div", {className: "box question", role: "group", ariaLabel: "Question"},
    element("p", {textContent: `Which is right? ${question.problem}.`}), ...choices)
}

function control_of(field, send) {
  const tell = (value) => send({set: [field.name, value]})
  if (field.kind === "select") {
    const options = field.options.map(([value, textContent]) => element("option", {value, textContent}))
    const select = element("select", {}, ...options)
    select.value = field.value
    select.title = select.selectedOptions[0]?.textContent ?? ""
    select.addEventListener("change", () => tell(select.value))
    return select
  }
  if (field.kind === "check") {
    const box = element("input", {type: "checkbox", checked: field.value})
    box.addEventListener("change", () => tell(box.checked))
    return box
  }
  const input = element("input", {type: "text", value: field.value, placeholder: field.placeholder ?? "",
    autocomplete: "off"})
  if (field.kind === "zone") {
    input.setAttribute("list", "zones")
  }
  input.addEventListener("change", () => tell(input.value))
  return input
}

function field_of(field, send) {
  const control = control_of(field, send)
  control.ariaLabel = field.label
  const label = element("span", {textContent: field.label})
  const changed = field.kind === "select" && field.value !== "auto" && field.options[0][0] === "auto"
  return element("label", {
    className: `${field.kind === "check" ? "check" : ""} ${changed ? "changed" : ""}`,
    title: field.help,
  }, ...(field.kind === "check" ? [control, label] : [label, control]))
}

function preview_of({names, roles, can_leave_out, left_out, rows, more}, send) {
  const unused = (place) => roles[place]?.startsWith("ignored")
  const heads = names.map((name, place) => {
    const role = unused(place)
      ? roles[place].replace("ignored: ", "not used: ").replace(": other", "")
      : roles[place]
    const head = element("th", {scope: "col", title: name}, name || "(no name)",
      element("span", {className: `role ${unused(place) ? "unused" : "used"}`, textContent: role}))
    if (can_leave_out[place]) {
      const button = element("button", {
        type: "button", textContent: left_out[place] ? "use" : "leave out",
        ariaLabel: `${left_out[place] ? "Use" : "Leave out"} ${name}`,
      })
      button.addEventListener("click", () => send({leave_out: name}))
      head.append(button)
    }
    return head
  })
  const body = rows.map((row) => element("tr", {}, ...row.map((textContent, place) =>
    element("td", {textContent, title: textContent, className: unused(place) ? "unused" : ""}))))
  const table = element("table", {},
    heads.length ? element("thead", {}, element("tr", {}, ...heads)) : null,
    element("tbody", {}, ...body))
  return element("div", {},
    element("h3", {textContent: "First rows"}),
    element("div", {className: "table", tabIndex: 0, role: "region", ariaLabel: "First rows"}, table),
    more ? element("p", {className: "quiet", textContent: `and ${count(more)} more columns`}) : null)
}

function account_of({title, accepted, collapsed, rejected, reasons, notes}) {
  const part = (number, name) => element("span", {}, element("b", {textContent: count(number)}), ` ${name}`)
  const list = element("dl", {className: "reasons"})
  for (const [reason, where] of reasons) {
    list.append(element("dt", {textContent: reason}),
      element("dd", {className: "quiet", textContent: where, title: where}))
  }
  return element("div", {className: "account"},
    element("h3", {textContent: title}),
    element("div", {className: "sum"}, part(accepted, "accepted"),
      part(collapsed, "duplicates collapsed"), part(rejected, "rejected")),
    reasons.length ? list : null,
    notes.length ? element("ul", {}, ...notes.map((textContent) => element("li", {textContent}))) : null)
}

export function render({model}) {
  const form = element("div", {className: "form"})
  const zones = element("datalist", {id: "zones"})
  const send = (message) => {
    model.busy = true
    model.send_msg(message)
  }
  const follow_busy = () => form.classList.toggle("busy", model.busy)
  const draw = () => {
    // The field that has the focus keeps it, though it is made anew.
    const focused = form.getRootNode().activeElement?.closest?.("label")?.dataset.name
    const {summary, problem, questions, answers, fields, preview, account, plausibility} = model.review
    form.replaceChildren()
    if (!fields) {
      return
    }
    const add = (...parts) => form.append(...parts.filter((part) => part))
    add(summary && element("p", {className: "summary", textContent: summary}),
      problem && element("p", {className: "problem", role: "alert", textContent: problem}),
      ...questions.map((question, number) => question_of(question, number, send)))
    if (answers.length) {
      add(element("div", {className: "answers"}, ...answers.map(([name, said]) => {
        const button = element("button", {type: "button", textContent: `${said} ×`,
          ariaLabel: `Take back: ${said}`})
        button.addEventListener("click", () => send({forget: name}))
        return button
      })))
    }
    add(plausibility && element("p", {className: plausibility.fine ? "" : "odd",
      textContent: plausibility.text}))
    add(account && account_of(account))
    add(preview && preview_of(preview, send))
    const made = fields.map((field) => {
      const label = field_of(field, send)
      label.dataset.name = field.name
      return label
    })
    if (made.length) {
      add(element("div", {}, element("h3", {textContent: "How they are read"}),
        element("div", {className: "fields"}, ...made)))
    }
    if (focused) {
      made.find((label) => label.dataset.name === focused)?.querySelector("select, input")?.focus()
    }
  }
  const list_zones = () => zones.replaceChildren(...model.zones.map((value) => element("option", {value})))
  model.on("review", draw)
  model.on("busy", follow_busy)
  model.on("zones", list_zones)
  list_zones()
  draw()
  follow_busy()
  return element("div", {style: "width: 100%"}, element("style", {textContent: STYLE}), form, zones)
}
