import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { useBlocker } from 'react-router'
import { Dialog, DialogActions } from './dialog.tsx'

/** Asks before a person leaves a page with unsaved changes by a link, by Back or by closing the tab. */
export function UnsavedGuard({ unsaved }: { unsaved: boolean }) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => unsaved && currentLocation.pathname !== nextLocation.pathname,
  )
  useEffect(() => {
    if (!unsaved) return undefined
    const preventUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', preventUnload)
    return () => window.removeEventListener('beforeunload', preventUnload)
  }, [unsaved])
  const stay = () => blocker.reset?.()
  return (
    <Dialog
      title="Leave without saving?"
      size="sm"
      opened={blocker.state === 'blocked'}
      onClose={stay}
      onGone={() => undefined}
    >
      <p>The changes on this page are not saved. Leaving drops them.</p>
      <DialogActions>
        <Button variant="default" onClick={() => blocker.proceed?.()}>
          Leave
        </Button>
        <Button onClick={stay} data-autofocus>
          Stay
        </Button>
      </DialogActions>
    </Dialog>
  )
}
