// Turns points of more than two dimensions slowly, as if one walked around them. The source has the
// columns c0, c1, …; what is seen, x and y, is their projection on two directions.

const STYLE = `
  .tour {display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; padding: 2px 4px;
    font-size: var(--wf-small-size); min-height: 30px;
    background: color-mix(in srgb, var(--wf-paper) 75%, transparent)}
  button, select {font: inherit; color: inherit; background: var(--wf-paper); cursor: pointer;
    padding: 2px 8px; border: 1px solid var(--wf-line); border-radius: 4px; white-space: nowrap}
  button:focus-visible, select:focus-visible, input:focus-visible {outline: 2px solid var(--wf-accent)}
  label {display: flex; align-items: center; gap: 5px; white-space: nowrap}
  [hidden] {display: none}
  input {width: 70px; accent-color: var(--wf-accent)}
  .note {flex-basis: 100%; color: var(--wf-quiet)}`
// Radians a second. Square roots of different primes, so that no view comes twice.
const SPEED = 0.12
const RATES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47].map(Math.sqrt)

function find(name) {
  for (const doc of Bokeh.documents) {
    const source = doc.get_model_by_name(name)
    if (source != null) return source
  }
  return null
}

// Asimov's torus method: every pair of axes turns at its own rate. A basis has a row per axis.
function turn(basis, angle) {
  const turned = basis.map((row) => [...row])
  let pair = 0
  for (let i = 0; i < turned.length; i++) {
    for (let j = i + 1; j < turned.length; j++) {
      const by = angle * RATES[pair++ % RATES.length]
      const [cos, sin] = [Math.cos(by), Math.sin(by)]
      for (const side of [0, 1]) {
        const [a, b] = [turned[i][side], turned[j][side]]
        turned[i][side] = cos * a - sin * b
        turned[j][side] = sin * a + cos * b
      }
    }
  }
  return turned
}

function project(source, basis) {
  for (const [side, axis] of ["x", "y"].entries()) {
    const seen = new Float64Array(source.data.c0.length)
    basis.forEach((row, place) => {
      const column = source.data[`c${place}`]
      for (let point = 0; point < seen.length; point++) seen[point] += column[point] * row[side]
    })
    source.data[axis] = seen
  }
  source.change.emit()
}

export function render({model}) {
  const style = document.createElement("style")
  style.textContent = STYLE
  const tour = document.createElement("div")
  tour.className = "tour"
  const axes = document.createElement("select")
  axes.setAttribute("aria-label", "Axes of the map")
  const play = document.createElement("button")
  play.type = "button"
  const speed = document.createElement("input")
  Object.assign(speed, {type: "range", min: 0.2, max: 3, step: 0.1, value: 1})
  const label = document.createElement("label")
  label.append("Speed", speed)
  const note = document.createElement("span")
  note.className = "note"
  tour.append(axes, play, label, note)

  let frame = null
  let before = null
  let angle = 0
  let basis = []
  const stop = () => {
    if (frame != null) cancelAnimationFrame(frame)
    frame = before = null
  }
  const step = (now) => {
    const source = find(model.source)
    if (before != null && source?.data.c0 != null) {
      angle += SPEED * Number(speed.value) * (now - before) / 1000
      basis = turn(model.basis, angle)
      project(source, basis)
    }
    before = now
    frame = requestAnimationFrame(step)
  }
  play.addEventListener("click", () => {
    const paused = model.is_open
    stop()
    model.send_msg(paused ? {basis} : {tour: true})
  })
  axes.addEventListener("change", () => { stop(); model.send_msg({axes: axes.value}) })
  const draw = () => {
    axes.replaceChildren(...model.choices.map((choice) => new Option(choice, choice)))
    axes.value = model.chosen
    play.textContent = model.is_open ? "❚❚ Pause" : "▶ Tour"
    label.hidden = !model.is_open
    note.textContent = model.note
  }
  model.on(["choices", "chosen", "note"], draw)
  model.on("is_open", () => {
    draw()
    stop()
    if (model.is_open) {
      angle = 0
      basis = model.basis
      frame = requestAnimationFrame(step)
    }
  })
  model.on("remove", stop)
  draw()
  const root = document.createElement("div")
  root.append(style, tour)
  return root
}
