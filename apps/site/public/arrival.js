// Runs before the first paint of a public page, so that who is signed in does not see the visitors' one for a moment.
;(function () {
  try {
    if (window.localStorage.getItem('hubToken') !== null)
      document.documentElement.setAttribute('data-session', 'checking')
  } catch (error) {
    void error
  }
})()
