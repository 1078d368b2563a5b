/** The button that creates the first project. It is loaded only where it is shown, with the dialogs that it needs. */
import { ActionButton } from '../components/actions.tsx'
import { PROJECTS_PATH } from '../session.ts'
import { useCreateProjectAction } from './project-actions.tsx'

export default function NewProject() {
  return (
    <ActionButton
      action={useCreateProjectAction()}
      subject={null}
      url={PROJECTS_PATH}
      refreshes={[PROJECTS_PATH]}
      look="primary"
    />
  )
}
