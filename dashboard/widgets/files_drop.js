const STYLE = `
  .place {display: flex; flex-direction: column; align-items: center; gap: 8px; padding: 20px 12px 14px;
    border: 2px dashed color-mix(in srgb, currentColor 35%, transparent); border-radius: 8px;
    text-align: center; font-size: 0.85rem; line-height: 1.4; box-sizing: border-box; width: 100%}
  .place.compact {flex-direction: row; justify-content: space-between; padding: 7px 12px;
    border-width: 1px; text-align: left}
  .place.compact .text {flex: 1}
  .place.over {border-color: #3b82f6; background: color-mix(in srgb, #3b82f6 8%, transparent)}
  .text {white-space: pre-line; overflow-wrap: anywhere; max-width: 100%}
  .buttons {display: flex; gap: 8px; flex-wrap: wrap; justify-content: center}
  button {font: inherit; font-weight: 500; color: inherit; cursor: pointer; padding: 5px 14px;
    border: 1px solid color-mix(in srgb, currentColor 40%, transparent); border-radius: 6px;
    background: none}
  button:hover {background: color-mix(in srgb, currentColor 8%, transparent)}
  button:focus-visible {outline: 2px solid #3b82f6; outline-offset: 1px}
  .track {width: 100%; height: 4px; border-radius: 2px; overflow: hidden;
    background: color-mix(in srgb, currentColor 15%, transparent)}
  .bar {width: 100%; height: 100%; background: #3b82f6; transform-origin: left}
  [hidden] {display: none !important}`

const element = (tag, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), attributes)
  made.append(...children)
  return made
}

const megabytes = (bytes) => `${(bytes / 1e6).toLocaleString("en", {maximumFractionDigits: 1})} MB`

// All files below a folder that was dropped; a folder is listed a hundred entries at a time.
async function files_in(entry) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed))
    return [{file, name: entry.fullPath.replace(/^\//, ""), single: !entry.fullPath.slice(1).includes("/")}]
  }
  const reader = entry.createReader()
  const found = []
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed))
    if (!some.length) {
      return found
    }
    for (const each of some) {
      found.push(...(await files_in(each)))
    }
  }
}

export function render({model, view}) {
  const text = element("div", {className: "text", ariaLive: "polite"})
  const bar = element("div", {className: "bar"})
  const track = element("div", {className: "track", hidden: true}, bar)
  const chooser = element("input", {type: "file", multiple: !model.single, hidden: true})
  const folder = element("input", {type: "file", hidden: true, webkitdirectory: true})
  const choose = element("button", {type: "button", textContent: "Choose files"})
  const choose_folder = element("button", {type: "button", textContent: "Choose a folder"})
  const stop = element("button", {type: "button", textContent: "Stop", hidden: true})
  const buttons = element("div", {className: "buttons"}, choose, choose_folder, stop)
  const place = element("div", {className: "place"}, text, track, buttons)
  let whole = null  // the contents of all files, one after the other
  let count = 0
  let first = ""

  const draw = () => {
    const busy = model.wanted >= 0 && whole
    const what = count === 1 ? first : `${count.toLocaleString("en")} files`
    text.textContent = busy
      ? `Receiving ${what}: ${megabytes(model.wanted)} of ${megabytes(whole.size)}`
      : model.compact ? `${what}, ${megabytes(whole?.size ?? 0)}` : model.text
    place.classList.toggle("compact", model.compact && !busy)
    choose.textContent = model.compact ? "Choose others" : model.single ? "Choose a file" : "Choose files"
    track.hidden = stop.hidden = !busy
    choose.hidden = Boolean(busy)
    choose_folder.hidden = model.single || Boolean(busy)
    bar.style.transform = `scaleX(${busy ? model.wanted / (whole.size || 1) : 0})`
    chooser.accept = model.accept
  }
  // Whoever names a file means it; of a folder, only tables are sent.
  const send = (found) => {
    const ends = model.accept.split(",")
    const chosen = found.filter(({name, single}) =>
      single || ends.some((end) => name.toLowerCase().endsWith(end)))
    chosen.sort((a, b) => a.name.localeCompare(b.name, "en", {numeric: true}))
    whole = new Blob(chosen.map(({file}) => file))
    count = chosen.length
    first = chosen[0]?.name ?? ""
    model.send_msg({files: chosen.map(({name, file}) => [name, file.size])})
  }
  const send_piece = async () => {
    draw()
    if (model.wanted >= 0 && whole) {
      let data = new ArrayBuffer(0)
      try {
        data = await whole.slice(model.wanted, model.wanted + model.piece).arrayBuffer()
      } catch {
        // The file is gone or was changed: the server says so.
      }
      model.send_msg({data})
    }
  }
  choose.onclick = () => chooser.click()
  choose_folder.onclick = () => folder.click()
  stop.onclick = () => model.send_msg({stop: true})
  for (const input of [chooser, folder]) {
    input.onchange = () => {
      const found = [...input.files].map((file) => (
        {file, name: file.webkitRelativePath || file.name, single: !file.webkitRelativePath}))
      input.value = ""
      if (found.length) {
        send(found)
      }
    }
  }
  place.ondragover = (event) => {
    event.preventDefault()
    place.classList.add("over")
  }
  place.ondragleave = () => place.classList.remove("over")
  place.ondrop = async (event) => {
    event.preventDefault()
    place.classList.remove("over")
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean)
    const found = (await Promise.all(entries.map(files_in))).flat()
    if (found.length) {
      send(found)
    }
  }
  model.on("wanted", send_piece)
  model.on("text", draw)
  model.on("compact", draw)
  // The session does not come back; what it has received is removed with it.
  view.model.document.on_event("connection_lost", () => {
    if (whole) {
      text.textContent = "The connection is lost. Reload the page, then choose the files again."
      track.hidden = buttons.hidden = true
    }
  })
  draw()
  return element("div", {style: "width: 100%"}, element("style", {textContent: STYLE}), place,
    chooser, ...(model.single ? [] : [folder]))
}
