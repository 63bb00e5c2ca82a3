import { Link } from 'react-router'
import styles from './help-link.module.css'

/** Leads to the page of help about what is on the screen; `to` is its name, perhaps with a heading: `tls#your-own`. */
export function HelpLink({ to, children = 'Help' }: { to: string; children?: string }) {
  return (
    <Link to={`/help/${to}`} className={styles.help}>
      {children}
    </Link>
  )
}
