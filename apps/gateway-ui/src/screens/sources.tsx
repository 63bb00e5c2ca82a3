/** Sources, from Configuration: where detections come from, as forms. */
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { SettingsPanel } from '../parts/settings-panel.tsx'
import { UndoBar } from '../parts/undo-bar.tsx'
import { useStatus } from '../queries.ts'
import { useVisitor } from '../session.ts'
import { useSettings } from '../settings.ts'
import { API, EYE, FRIGATE } from './source-settings.ts'

export function SourcesScreen() {
  const { mayManage } = useVisitor()
  const query = useSettings(mayManage)
  return (
    <>
      <PageHead
        title="Sources"
        place={useStatus().data?.name ?? 'Gateway'}
        lead="Where detections come from. An empty field leaves its value out of gateway.yaml."
        actions={
          <Button variant="default" component={Link} to="/configuration">
            gateway.yaml as text
          </Button>
        }
      />
      <UndoBar />
      {!mayManage ? (
        <Panel title="Sources">
          <PanelForbidden>
            Managers and administrators of the hub, and people who know the password of this device, set up sources.
          </PanelForbidden>
        </Panel>
      ) : query.data === undefined ? (
        <PanelWaiting query={query} rows={6} label="Loading the forms" />
      ) : (
        <>
          <SettingsPanel {...FRIGATE} />
          <SettingsPanel {...EYE} />
          <SettingsPanel {...API} />
        </>
      )}
    </>
  )
}
