import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { useBlocker } from 'react-router'
import { Dialog, DialogActions } from './dialog.tsx'

const LOST = 'The changes on this page are not saved. Leaving drops them.'

type UnsavedGuardProps = { unsaved: boolean; title?: string; children?: string }

/** Asks before a person leaves a page with unsaved changes by a link, by Back or by closing the tab. */
export function UnsavedGuard({ unsaved, title = 'Leave without saving?', children = LOST }: UnsavedGuardProps) {
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
    <Dialog title={title} size="sm" opened={blocker.state === 'blocked'} onClose={stay} onGone={() => undefined}>
      <p>{children}</p>
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
