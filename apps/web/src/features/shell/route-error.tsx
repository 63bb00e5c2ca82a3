import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { useRouteError } from 'react-router'
import { LostPage } from './lost-page.tsx'

/** A screen that broke, or whose code is gone because the hub was updated under an open page. */
export function RouteError() {
  const error = useRouteError()
  useEffect(() => console.error('A screen failed:', error), [error])
  return (
    <LostPage title="This page did not load">
      <p>The hub may have been updated or restarted while it was open. Loading it again usually helps.</p>
      <Button onClick={() => location.reload()}>Load again</Button>
    </LostPage>
  )
}
