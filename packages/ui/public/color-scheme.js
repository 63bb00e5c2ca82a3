// Runs before the first paint, so that a dark page never flashes white, and visitors see the heading of /login and /register before their script has loaded. The policy allows no inline script.
;(function () {
  var chosen = null
  var token = null
  try {
    chosen = window.localStorage.getItem('hubColorScheme')
    token = window.localStorage.getItem('hubToken')
  } catch (error) {
    void error
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  var entrance = /^\/(login|register)$/.exec(window.location.pathname)
  if (entrance && token === null) document.documentElement.setAttribute('data-entrance', entrance[1])
})()
