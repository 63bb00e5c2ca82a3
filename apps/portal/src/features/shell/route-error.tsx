import { Button } from '@mantine/core'
import { useEffect } from 'react'
import { useRouteError } from 'react-router'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import styles from './not-found-page.module.css'

/** `recover` loads the page again by itself, and returns a function that stops it. */
type RouteErrorProps = { recover: (() => () => void) | undefined }

const TITLE = 'This page did not load'
const WORDS =
  'The hub may have been updated, or may be restarting. The page loads again when the hub answers; you can also load it now.'

function useFailure({ recover }: RouteErrorProps): void {
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

/** One screen failed, or its code did not load. The bar stays. */
export function ScreenError(props: RouteErrorProps) {
  useFailure(props)
  return (
    <>
      <PageHead title={TITLE} />
      <Panel title="What to do">
        <div className={styles.within}>
          <p>{WORDS}</p>
          <LoadAgain />
        </div>
      </Panel>
    </>
  )
}

const LoadAgain = () => <Button onClick={() => location.reload()}>Load again</Button>
