// Runs before the first paint, so that a dark page never flashes white, and people with a session see no form for
// visitors. The policy allows no inline script.
;(function () {
  var root = document.documentElement
  var chosen = null
  var token = null
  try {
    chosen = window.localStorage.getItem('hubColorScheme')
    token = window.localStorage.getItem('hubToken')
  } catch (error) {
    void error
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches)
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  if (!/^\/(login|register)\/*$/.test(window.location.pathname)) return
  if (token !== null) root.setAttribute('data-session', 'checking')
  // A form that is sent before its script is there waits for it (apps/portal/src/app.tsx).
  document.addEventListener(
    'submit',
    function (event) {
      if (root.hasAttribute('data-ready')) return
      event.preventDefault()
      event.stopImmediatePropagation()
      root.setAttribute('data-sent', '')
    },
    true,
  )
})()
