import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import styles from './not-found-page.module.css'
import { LoadAgain, TITLE, useFailure, WORDS, type RouteErrorProps } from './route-error.tsx'

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
