/** The button that creates a project. */
import { ActionButton } from '../components/actions.tsx'
import { PROJECTS_PATH } from '../session.ts'
import { useCreateProjectAction } from './project-actions.tsx'

export default function CreateProjectButton() {
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
