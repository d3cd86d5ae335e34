/** Examples for the help of each command, as a person would type them behind `./muster`. */
import type { Command } from 'commander';

const EXAMPLES = `
up
down --keep-runs
status -o json
backup muster.tar
restore muster.tar
session run --configuration web --limit 'n[1-4],!n3'
session run nightly --configuration web --check --detach
session list --status complete --succeeded false --max-age 1d
session list --host 'n[1-4]' --columns name,hosts,message --sort -age
session get nightly --watch
session hosts nightly --by-layer
session logs nightly -f
session logs nightly --layer 0 --host n3
session logs nightly --grep 'disk is full'
session logs nightly --failures
session logs nightly --layer 0 --since-line 1200
session events nightly --result failed -o json
session wait nightly --timeout 600
session cancel nightly --reason 'wrong branch'
session cancel --status pending --config web --yes
session finish-debug nightly
session retry nightly --hosts failed --wait
session delete --min-age 30d --yes
session open nightly
component list @role=compute --status failed
component list n[1-20] -o wide
component get n3
component timeline n3 --limit 20
component explain n3
component enable n[1-20] --yes
component disable --status failed --reason 'disks are changed' --yes
component clear n3 --dry-run
component reset-errors --config web --yes
component delete n3
component set n[1-20] --config web --tag rack=r7 --yes
component wait n[1-20] --for configured --timeout 1800
component apply -f components.yaml
drift check @role=compute --wait
drift list --status drifted
drift get n3
configuration list
configuration get web -o yaml
configuration apply -f web.yaml --dry-run
configuration diff -f web.yaml
configuration delete web
source list
source get https://git.example.org/site.git
source apply -f source.yaml
source delete https://git.example.org/site.git
image list
image get compute
image import root.tar --name compute
image export compute root.tar
image delete compute
batch list --watch
batch get 0a1b2c3d-0000-4000-8000-00000000000a
batch pause --reason 'network works'
batch resume
batch tick
rollout list
rollout get web
rollout stop web --reason 'canaries look wrong'
rollout resume web
option get batch_size
option set batch_size=50
secret set git-login username=@user.txt password=@password.txt
secret list
secret delete git-login password
secret rotate-key
secret usage git-login
schedule list
schedule get nightly
schedule create nightly --cron '0 3 * * *' --reconfigure --tag role=compute
schedule update nightly --cron '0 4 * * *'
schedule apply -f schedules.yaml
schedule delete nightly
schedule pause nightly
schedule resume nightly
schedule trigger nightly
schedule next nightly
schedule runs nightly
import --from https://api.example.org/apis/cfs --dry-run
token create --role operator --name ci --expires 90d
token list
token revoke ci
audit list --kind configuration --since 1d
trust show
trust ca
webhook create chat --to https://chat.example.org/hook --event session.ended
webhook list
webhook get chat
webhook update chat --disable
webhook delete chat
webhook test chat
webhook deliveries chat
run get 0a1b2c3d-1-0
run logs 0a1b2c3d-1-0
run end 0a1b2c3d-1-0
sign-in --url https://muster.example.org
sign-out --context prod
whoami
context list
context get prod
context use prod
context set prod --url https://muster.example.org --ca-file ca.pem --read-only
context delete prod
operator validate watches.yaml
operator run --watches-file ./watches.yaml
operator watches
operator list
operator get memcached web
operator reconciles memcached web
operator reconcile-get 0a1b2c3d-0000-4000-8000-00000000000a
operator reconcile memcached web
operator cancel memcached web
operator pause memcached web
operator resume memcached web
operator drain
operator logs memcached web
repository add site ./definitions
repository add site --git https://git.example.org/definitions.git --ref main
repository list
repository get site
repository sync site --wait
repository remove site
resource create web nginx port=8080
resource list
resource get web
resource update web port=8081
resource tag web zone=a
resource stage web
resource remove web
connection add db web 'address->db_address'
connection list
connection remove db web
event add on db.run changed web.1.reload
event list web
event remove --resource web
change stage web
change list
change discard
change process --preview
change history
plan simulate plan.yaml
plan list
plan get last
plan nodes last
plan report last
plan explain last web.run
plan graph last
plan logs last web.run
plan events last
plan run last --wait
plan stop last
plan abort last
plan pause last
plan unpause last
plan abandon last
plan resume last
plan retry last web.run --wait
plan delete last
plan release 0a1b2c3d-0000-4000-8000-00000000000a
cluster add east --provider site -f kubeconfig.yaml
cluster list
cluster get site+east
cluster label site+east gpu
cluster rotate site+east -f kubeconfig.yaml
cluster delete site+east
deployment apply -f telemetry.yaml --wait
deployment list
deployment get telemetry
deployment status telemetry --app store
deployment explain telemetry
deployment events telemetry --follow
deployment approve acme+telemetry+v1+edge
deployment instantiate acme+telemetry+v1+edge --wait --timeout 600
deployment terminate telemetry --wait
deployment stop telemetry --wait
deployment delete telemetry --wait
fleet --watch
stop --all --reason 'power is cut' --yes
go
apply -f site --dry-run
apply -f site --prune --yes
diff -f site
export site
doctor
open session nightly
version
api GET /api/v1/status
api POST /api/v1/go --dry-run
completion bash
`
  .trim()
  .split('\n');

/** The examples of a command by its words, such as `session run`. */
export const examplesOf = (path: string): string[] =>
  EXAMPLES.filter((example) => example === path || example.startsWith(`${path} `));

/** Adds the examples to the help of each command below. */
export function addExamples(command: Command, path: readonly string[] = []): void {
  if (command.commands.length === 0) {
    const examples = examplesOf(path.join(' '));
    const lines = examples.map((example) => `  ./muster ${example}`);
    if (lines.length > 0)
      command.addHelpText('after', `\n${lines.length > 1 ? 'Examples' : 'Example'}:\n${lines.join('\n')}`);
  }
  for (const verb of command.commands) addExamples(verb, [...path, verb.name()]);
}
