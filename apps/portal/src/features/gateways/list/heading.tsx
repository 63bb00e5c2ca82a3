import { Button } from '@mantine/core'
import { memo, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useGateways } from '#api/gateways.ts'
import { MANAGER_NEEDED } from '#api/roles.ts'
import { KeyIcon, PlusIcon, RefreshIcon } from '@hedgerow/ui/icons.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import type { OpenDialog } from '../dialogs/dialogs.tsx'

type HeadingProps = { mayManage: boolean; onDialog: (dialog: OpenDialog) => void }

/** The screen's title and the actions of the whole fleet. */
export const Heading = memo(function Heading({ mayManage, onDialog }: HeadingProps) {
  const navigate = useNavigate()
  const { refetch } = useGateways()
  const [refreshing, setRefreshing] = useState(false)
  const refresh = async () => {
    setRefreshing(true)
    await refetch()
    setRefreshing(false)
  }
  return (
    <PageHead
      title="Gateway Management"
      tab="Gateways"
      actions={
        <>
          <Button variant="default" leftSection={<RefreshIcon />} loading={refreshing} onClick={() => void refresh()}>
            Refresh
          </Button>
          <Button component={Link} to="/sites" variant="default">
            Sites
          </Button>
          <Button component={Link} to="/versions" variant="default">
            Versions
          </Button>
          <Button
            variant="default"
            leftSection={<KeyIcon />}
            onClick={() => onDialog({ verb: 'claim', deviceToken: '' })}
          >
            Claim Gateway
          </Button>
          <ReasonedButton
            leftSection={<PlusIcon />}
            reason={mayManage ? undefined : MANAGER_NEEDED}
            onClick={() => void navigate('/add-gateway')}
          >
            Add Gateway
          </ReasonedButton>
        </>
      }
    />
  )
})
