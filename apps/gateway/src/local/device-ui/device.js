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

function showCondition(condition) {
  const item = document.querySelector(`[data-step="${condition.step}"]`)
  const changed = item.dataset.state !== condition.state
  item.dataset.state = condition.state
  setText(item.querySelector('.state'), words[condition.state])
  setText(item.querySelector('.detail'), condition.detail)
  const time = item.querySelector('time')
  time.dateTime = condition.at ?? ''
  time.title = condition.at ?? ''
  setText(time, localTime(condition.at))
  return changed
}

function show(state) {
  const changed = state.conditions.filter(showCondition).at(-1)
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
