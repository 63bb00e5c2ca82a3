import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { useRouteError } from 'react-router'
import { NotFoundPage } from './not-found-page.tsx'

/** A screen that broke, or whose code did not come; `recover` brings it back by itself, and returns the way to stop. */
export function RouteError({ recover }: { recover: (() => () => void) | undefined }) {
  const error = useRouteError()
  useEffect(() => console.error('A screen failed:', error), [error])
  useEffect(() => recover?.(), [recover])
  return (
    <NotFoundPage title="This page did not load">
      <p>The hub may have been updated, or be away for a moment. Loading the page again usually helps.</p>
      <Button onClick={() => location.reload()}>Load again</Button>
    </NotFoundPage>
  )
}
