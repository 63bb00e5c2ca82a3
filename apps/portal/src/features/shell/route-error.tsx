import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { useRouteError } from 'react-router'
import { NotFoundPage } from './not-found-page.tsx'

/**
 * A screen that failed, or whose code did not load. `recover` loads it again by itself, and returns a function that
 * stops it.
 */
export function RouteError({ recover }: { recover: (() => () => void) | undefined }) {
  const error = useRouteError()
  useEffect(() => console.error('A screen failed:', error), [error])
  useEffect(() => recover?.(), [recover])
  return (
    <NotFoundPage title="This page did not load">
      <p>The hub may have been updated, or may be restarting. Loading the page again usually helps.</p>
      <Button onClick={() => location.reload()}>Load again</Button>
    </NotFoundPage>
  )
}
