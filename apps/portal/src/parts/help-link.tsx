import { Link } from 'react-router'
import styles from './help-link.module.css'

/** A link to the page of help about the screen; `to` is its name, perhaps with a heading: `tls#your-own`. */
export function HelpLink({ to, children = 'Help' }: { to: string; children?: string }) {
  return (
    <Link to={`/help/${to}`} className={styles.help}>
      {children}
    </Link>
  )
}
