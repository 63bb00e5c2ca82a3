import type { Site } from '@hedgerow/contract'
import { Link } from 'react-router'
import { distanceInWords, plotOf } from './positions.ts'
import styles from './sites.module.css'

/** The sites that have a place, north above, with the distance to the nearest one. */
export function Plot({ sites }: { sites: readonly Site[] }) {
  const plot = plotOf(sites)
  if (plot === undefined) return null
  const { positions, scale } = plot
  return (
    <div className={styles.plot}>
      <ul aria-label="Sites on a plot">
        {positions.map(({ site, x, y, nearest }) => (
          <li key={site.id} style={{ left: `${x}%`, top: `${y}%` }}>
            <Link to={`/gateways?site=${site.id}`}>{site.name}</Link>
            {nearest !== undefined && (
              <span>
                {distanceInWords(nearest.metres)} to {nearest.name}
              </span>
            )}
          </li>
        ))}
      </ul>
      <p>
        <span style={{ width: `${scale.percent}%` }}>{distanceInWords(scale.metres)}</span>
        North is up
      </p>
    </div>
  )
}
