// Moves the points of a Bokeh source along their dates. The source has the columns x0, y0, x1, …;
// what is seen, x and y, lies between two of them.

const STYLE = `
  .player {display: flex; align-items: center; gap: 8px; font-size: 0.8rem; min-height: 30px}
  button {font: inherit; color: inherit; background: none; cursor: pointer; padding: 2px 10px;
    border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-radius: 4px;
    white-space: nowrap}
  button:disabled {opacity: 0.5; cursor: default}
  button:focus-visible, input:focus-visible {outline: 2px solid #3b82f6}
  input {flex: 1; min-width: 80px; accent-color: #3b82f6}
  output {min-width: 8.5em; font-variant-numeric: tabular-nums}
  .note {opacity: 0.72}`
const SECONDS = 0.9 // from one date to the next

function find(name) {
  for (const doc of Bokeh.documents) {
    const source = doc.get_model_by_name(name)
    if (source != null) return source
  }
  return null
}

function move(source, time, last) {
  const at = Math.min(Math.floor(time), Math.max(last - 1, 0))
  const share = time - at
  const next = Math.min(at + 1, last)
  for (const axis of ["x", "y"]) {
    const [from, to] = [source.data[`${axis}${at}`], source.data[`${axis}${next}`]]
    if (from == null) return
    const seen = new Float64Array(from.length)
    for (let row = 0; row < seen.length; row++) {
      // A home without readings at one of the two dates waits at the other.
      const a = isNaN(from[row]) ? to[row] : from[row]
      const b = isNaN(to[row]) ? from[row] : to[row]
      seen[row] = a + share * (b - a)
    }
    source.data[axis] = seen
  }
  source.change.emit()
}

export function render({model}) {
  const style = document.createElement("style")
  style.textContent = STYLE
  const player = document.createElement("div")
  player.className = "player"
  const open = document.createElement("button")
  const play = document.createElement("button")
  const slider = document.createElement("input")
  slider.type = "range"
  slider.min = 0
  slider.step = 0.01
  slider.value = 0
  slider.setAttribute("aria-label", "Date")
  const date = document.createElement("output")
  const note = document.createElement("span")
  note.className = "note"
  for (const button of [open, play]) button.type = "button"
  player.append(open, play, slider, date, note)

  let frame = null
  let before = null
  const last = () => model.dates.length - 1
  const show = () => {
    const time = Number(slider.value)
    date.textContent = model.dates[Math.round(time)] ?? ""
    slider.setAttribute("aria-valuetext", date.textContent)
    const source = find(model.source)
    if (source != null) move(source, time, last())
  }
  const stop = () => {
    if (frame != null) cancelAnimationFrame(frame)
    frame = before = null
    play.textContent = "▶ Play"
  }
  const step = (now) => {
    if (before != null) {
      const time = Math.min(Number(slider.value) + (now - before) / 1000 / SECONDS, last())
      slider.value = time
      show()
      if (time >= last()) return stop()
    }
    before = now
    frame = requestAnimationFrame(step)
  }
  play.addEventListener("click", () => {
    if (frame != null) return stop()
    if (Number(slider.value) >= last()) slider.value = 0
    play.textContent = "❚❚ Pause"
    frame = requestAnimationFrame(step)
  })
  slider.addEventListener("input", () => { stop(); show() })
  open.addEventListener("click", () => model.send_msg(!model.is_open))
  const draw = () => {
    stop()
    slider.max = Math.max(last(), 0)
    open.textContent = model.is_open ? "Back to the map" : "All homes over time"
    open.disabled = model.dates.length < 2
    for (const part of [play, slider, date]) part.hidden = !model.is_open
    note.textContent = model.is_open ? "" : model.note
    if (model.is_open) show()
  }
  for (const name of ["dates", "is_open", "note"]) model.on(name, draw)
  model.on("remove", stop)
  draw()
  const root = document.createElement("div")
  root.append(style, player)
  return root
}
