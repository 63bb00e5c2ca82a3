/** A page whose code failed, or did not load. */
import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { NotFoundPage } from './not-found-page.tsx'

/** `recover` loads the page again by itself, and returns a function that stops it. */
export type Recovery = { recover: (() => () => void) | undefined }

export const TITLE = 'This page did not load'
export const WORDS =
  'The hub may have been updated, or may be restarting. The page loads again when the hub answers; you can also ' +
  'load it now.'

export function useFailure(error: unknown, { recover }: Recovery): void {
  useEffect(() => console.error('A screen failed:', error), [error])
  useEffect(() => recover?.(), [recover])
}

/** The whole page failed. */
export function PageFailure({ error, ...recovery }: Recovery & { error: unknown }) {
  useFailure(error, recovery)
  return (
    <NotFoundPage title={TITLE}>
      <p>{WORDS}</p>
      <LoadAgain />
    </NotFoundPage>
  )
}

export const LoadAgain = () => <Button onClick={() => location.reload()}>Load again</Button>
