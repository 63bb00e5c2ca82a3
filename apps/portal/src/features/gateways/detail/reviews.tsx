/** The reviews of a gateway's detections: by camera and day, and the latest ones with their authors. */
import type { GatewayDetail, ReviewCounts } from '@hedgerow/contract'
import { Link } from 'react-router'
import { DayBars } from '@hedgerow/ui/day-bars.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { useReviewCounts } from '../queries.ts'
import styles from './reviews.module.css'

export function Reviews({ gateway: { id } }: { gateway: GatewayDetail }) {
  const query = useReviewCounts(id)
  const { data } = query
  if (data === undefined) return <PanelWaiting query={query} rows={3} label="Loading reviews" />
  if (data.cameras.length === 0 && data.latest.length === 0)
    return (
      <PanelEmpty title="Nothing reviewed yet">
        Mark incidents as correct or wrong in <Link to={`/threats?gateway=${id}&review=none`}>Threats</Link>.
      </PanelEmpty>
    )
  return (
    <div className={styles.reviews}>
      {data.cameras.length > 0 && <Cameras gatewayId={id} counts={data} />}
      {data.latest.length > 0 && (
        <ul className={styles.latest} aria-label="Latest reviews">
          {data.latest.map((review) => (
            <li key={review.incidentId}>
              <Link to={`/threats?incident=${review.incidentId}`}>{reviewInWords(review)}</Link>
              <small>
                {review.by}, <RelativeTime at={review.at} />
              </small>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Cameras({ gatewayId, counts: { days, cameras } }: { gatewayId: string; counts: ReviewCounts }) {
  const most = Math.max(...cameras.flatMap(({ right, wrong }) => [...right, ...wrong]))
  return (
    <table className={styles.cameras}>
      <caption className="visually-hidden">Reviewed detections of each camera, last {days.length} days</caption>
      <thead>
        <tr>
          <th scope="col">Camera</th>
          <th scope="col">Correct</th>
          <th scope="col">Wrong</th>
          <th scope="col">By day, last {days.length} days</th>
        </tr>
      </thead>
      <tbody>
        {cameras.map(({ camera, right, wrong }) => (
          <tr key={camera}>
            <th scope="row">
              <Link to={`/threats?${new URLSearchParams({ gateway: gatewayId, camera })}`}>{camera}</Link>
            </th>
            <td>{sum(right).toLocaleString()}</td>
            <td>{sum(wrong).toLocaleString()}</td>
            <td>
              <DayBars
                days={days}
                above={[{ words: 'correct', tone: 'right', values: right }]}
                below={[{ words: 'wrong', tone: 'wrong', values: wrong }]}
                most={most}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function reviewInWords({ verdict, reportedLabel, label, camera }: ReviewCounts['latest'][number]): string {
  const what = `${reportedLabel} at ${camera}`
  if (verdict === 'right') return `${what}: correct`
  return label === reportedLabel ? `${what}: false alarm` : `${what}: it was ${label}`
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
