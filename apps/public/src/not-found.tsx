import { Frame } from './frame.tsx'
import styles from './not-found.module.css'

export const NOT_FOUND_TITLE = 'Nothing grows here · Hedgerow'

/** For every address that is neither a public page nor a screen of the portal. */
export function NotFoundPage() {
  return (
    <Frame>
      <div className={styles.page}>
        <h1>Nothing grows here</h1>
        <p>There is no page at this address. It may have moved, or the link may be missing a piece.</p>
        <p>
          <a href="/">Back to the hub</a>
        </p>
      </div>
    </Frame>
  )
}
