// Refreshes the device page without reloading it.
const REFRESH_MS = 2000
const base = document.body.dataset.base
const words = { done: 'Done', waiting: 'Waiting', failed: 'Problem' }

function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text
}

function localTime(iso) {
  return iso ? new Date(iso).toLocaleString() : ''
}

function showRung(rung) {
  const item = document.querySelector(`[data-step="${rung.step}"]`)
  const changed = item.dataset.state !== rung.state
  item.dataset.state = rung.state
  setText(item.querySelector('.state'), words[rung.state])
  setText(item.querySelector('.detail'), rung.detail)
  const time = item.querySelector('time')
  time.dateTime = rung.at ?? ''
  time.title = rung.at ?? ''
  setText(time, localTime(rung.at))
  return changed
}

function show(state) {
  const changed = state.conditions.filter(showRung).at(-1)
  if (changed) setText(document.querySelector('.announcement'), `${changed.label}: ${words[changed.state]}`)
  for (const element of document.querySelectorAll('[data-field]')) {
    const value = state[element.dataset.field]
    setText(element, value === null ? element.dataset.empty : String(value))
  }
  const code = document.querySelector('.code')
  if (code.hidden && state.claimUrl !== null) code.src = `${base}/qr.svg?found`
  code.hidden = state.claimUrl === null
}

async function refresh() {
  const silent = document.querySelector('.silent')
  try {
    const answer = await fetch(`${base}/api/state`, { cache: 'no-store' })
    show(await answer.json())
    setText(silent, '')
  } catch {
    setText(silent, 'The device does not answer. It may be restarting.')
  }
  setTimeout(refresh, REFRESH_MS)
}

void refresh()
