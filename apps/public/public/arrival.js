// Runs before the first paint of a public page, so that signed-in people never see the visitors' header.
;(function () {
  try {
    if (window.localStorage.getItem('hubToken') !== null)
      document.documentElement.setAttribute('data-session', 'checking')
  } catch (error) {
    void error
  }
})()
