// Runs before the first paint, so that a dark page never flashes white. The policy allows no inline script.
;(function () {
  var chosen = null
  try {
    chosen = window.localStorage.getItem('hubColorScheme')
  } catch (error) {
    void error
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
