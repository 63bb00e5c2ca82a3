/**
 * The service worker of the portal: a notice while the hub cannot be reached, and push messages. It stores two files of
 * the hub, and since when the hub does not answer. It stores nothing else: no page, no answer of the API, no picture,
 * nothing from a gateway, whose pages have origins of their own. Screens always come from the hub, so that an update of
 * the hub needs no update of this.
 */
const SHELL = 'hub-shell-1'
const SHELL_FILES = ['/icon.svg', '/icon-192.png']
/** While the hub does not answer, the time of the first failure is stored at this address; the hub has no such page. */
const LOST_SINCE = '/lost-since'

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(SHELL)
      .then((cache) => cache.addAll(SHELL_FILES))
      .then(() => self.skipWaiting()),
  )
})

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  )
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || url.origin !== self.location.origin) return
  if (request.mode === 'navigate') {
    const answer = fetch(request)
    event.respondWith(answer.catch(offlinePage))
    event.waitUntil(answer.then(() => keepLostSince(null)).catch(() => {}))
  }
  if (SHELL_FILES.includes(url.pathname) && url.search === '')
    event.respondWith(fetch(request).catch(() => caches.match(url.pathname)))
})

/** An open page tells when it loses the hub, and when the hub is back. */
self.addEventListener('message', (event) => {
  const { lostSince } = event.data ?? {}
  if (lostSince !== undefined) event.waitUntil(keepLostSince(lostSince))
})

self.addEventListener('push', (event) => {
  event.waitUntil(show(event.data ? event.data.json() : {}))
})

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event
  notification.close()
  const { url, acknowledge } = notification.data ?? {}
  event.waitUntil(action === 'acknowledge' && acknowledge ? acknowledgeOr(acknowledge, openPage) : openPage(url))
})

async function show({ title, text, url, acknowledge, tag, unread, words, pictureUrl }) {
  if (unread !== undefined && self.navigator.setAppBadge) await self.navigator.setAppBadge(unread).catch(() => {})
  await self.registration.showNotification(title ?? 'Your hub', {
    body: text,
    icon: '/icon-192.png',
    ...(tag && { tag, renotify: true }),
    ...(pictureUrl && { image: ownPath(pictureUrl) }),
    ...(acknowledge && words
      ? {
          actions: [
            { action: 'acknowledge', title: words.acknowledge },
            { action: 'open', title: words.open },
          ],
        }
      : {}),
    data: { url, acknowledge },
  })
}

async function acknowledgeOr({ token, call, page }, open) {
  try {
    const answer = await fetch(ownPath(call), {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    if (!answer.ok) throw new Error(`the hub answered ${answer.status}`)
  } catch {
    await open(page)
  }
}

async function openPage(address) {
  const path = ownPath(address ?? '/dashboard')
  const windows = await self.clients.matchAll({ type: 'window' })
  const open = windows.find((client) => new URL(client.url).origin === self.location.origin)
  if (!open) return self.clients.openWindow(path)
  // A browser that refuses the focus shows the page all the same.
  await open.focus().catch(() => {})
  return open.navigate(path)
}

/** Links of the hub hold its public address; this browser may use another one. */
function ownPath(address) {
  const { pathname, search, hash } = new URL(address, self.location.origin)
  return pathname + search + hash
}

async function keepLostSince(ms) {
  const shell = await caches.open(SHELL)
  await (ms === null ? shell.delete(LOST_SINCE) : shell.put(LOST_SINCE, new Response(String(ms))))
}

/** For people: the time, and the day if it was another one. */
async function lostSince() {
  const known = await caches.match(LOST_SINCE)
  const ms = known ? Number(await known.text()) : Date.now()
  if (!known) await keepLostSince(ms)
  const at = new Date(ms)
  const time = { hour: '2-digit', minute: '2-digit' }
  const isToday = at.toDateString() === new Date().toDateString()
  return isToday
    ? at.toLocaleTimeString(undefined, time)
    : at.toLocaleString(undefined, { dateStyle: 'medium', ...time })
}

/** The bar of the portal, and a notice. The page reloads every five seconds. */
async function offlinePage() {
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>No connection · Hub</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="5">
<link rel="icon" href="/icon.svg"><style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0; background: light-dark(#f5f7f6, #0c1210); color: light-dark(#14201c, #e6eeea) }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; min-height: 52px; padding: 0 20px;
  background: #0a3d34; color: #fff; font-weight: 640 }
header img { width: 26px; height: 26px }
output { padding: 0 8px; border: 1px solid #f2b544; border-radius: 4px; color: #f2b544; font: 540 12px/20px system-ui }
main { display: grid; gap: 8px; max-width: 34rem; padding: 24px 20px } h1 { margin: 0; font-size: 24px } p { margin: 0 }
</style></head><body><header><img src="/icon.svg" alt=""><span>Hub</span>
<output>No connection since ${await lostSince()}</output></header><main><h1>The hub does not answer</h1>
<p>This device is offline, or the hub is. This page tries again by itself.</p></main></body></html>`
  return new Response(page, {
    status: 503,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; base-uri 'none'",
    },
  })
}
