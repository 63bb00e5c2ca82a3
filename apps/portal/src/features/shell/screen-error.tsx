import { useRouteError } from 'react-router'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import styles from './not-found-page.module.css'
import { LoadAgain, TITLE, useFailure, WORDS, type Recovery } from './page-failure.tsx'

/** One screen failed, or its code did not load. The bar stays. */
export function ScreenError(recovery: Recovery) {
  useFailure(useRouteError(), recovery)
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
