import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { useRouteError } from 'react-router'
import { NotFoundPage } from './not-found-page.tsx'

/** `recover` loads the page again by itself, and returns a function that stops it. */
export type RouteErrorProps = { recover: (() => () => void) | undefined }

export const TITLE = 'This page did not load'
export const WORDS =
  'The hub may have been updated, or may be restarting. The page loads again when the hub answers; you can also load it now.'

export function useFailure({ recover }: RouteErrorProps): void {
  const error = useRouteError()
  useEffect(() => console.error('A screen failed:', error), [error])
  useEffect(() => recover?.(), [recover])
}

/** The whole page failed. */
export function RouteError(props: RouteErrorProps) {
  useFailure(props)
  return (
    <NotFoundPage title={TITLE}>
      <p>{WORDS}</p>
      <LoadAgain />
    </NotFoundPage>
  )
}

export const LoadAgain = () => <Button onClick={() => location.reload()}>Load again</Button>
