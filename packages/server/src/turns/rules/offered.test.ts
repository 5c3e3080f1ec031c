/**
 * Which rules an ask offers, command by command, and what they cover: nothing that runs the code of others beyond what was shown.
 * The tables are what people and agents type every day, with what attackers would.
 */
import { expect, it } from "vitest";
import type { Pattern } from "./contract.ts";
import { allows, patternsOf, patternWords } from "./pattern.ts";

/** `…`: behind these words the rule ends. */
const FIRST_WORDS = `
npm install …  npm ci …  npm remove … left-pad  npm test …  npm t …  npm start …  npm run build …
npm run-script build …  npm audit …  npm ls …  npm list … --depth=0  npm outdated …  npm view … react
npm info … react  npm why … react  npm build …  npm lint …  pnpm install …  pnpm i …  pnpm remove … left-pad
pnpm test …  pnpm build …  pnpm lint …  pnpm run build …  pnpm why … react  yarn install …  yarn upgrade …
yarn remove … left-pad  yarn test …  yarn build …  yarn lint …  yarn e2e …  yarn run build …  yarn run e2e …
yarn eslint … src  yarn info … react  yarn why … react  yarn list …  yarn audit …  yarn outdated …
bun install …  bun test …  bun run build …  bun build … a.ts  bun remove … left-pad  bun start …  bun lint …
npx eslint … src  npx tsc …  npx prettier … --write src  npx vitest …  npx jest …  npx mocha …
npx biome … check  npx knip …  pip install …  pip uninstall … requests  pip list …  pip show … requests
pip freeze …  pip check …  uv sync …  uv lock …  uv remove … requests  uv run pytest …  uv run ruff … check
uv run mypy … src  uv tree …  poetry install …  poetry run pytest …  poetry show …  poetry lock …
poetry remove … requests  cargo build …  cargo test …  cargo run …  cargo clippy …  cargo fmt …  cargo check …
cargo doc …  cargo bench …  cargo tree …  cargo metadata …  go build … ./...  go test … ./...  go vet … ./...
go fmt … ./...  go mod tidy …  go mod download …  go list … ./...  go doc … fmt  go version …  deno test …
deno check … a.ts  deno lint …  deno fmt …  deno bench …  gradle build …  gradle test …  gradle publish …
mvn test …  mvn package …  mvn exec:java …  dotnet build …  dotnet test …  dotnet run …  dotnet restore …
make test …  make install …  docker build … .  docker ps …  docker images …  docker logs … web
docker pull … alpine  docker start … web  docker stop … web  docker compose up …  docker compose up … -d
docker compose down …  docker compose logs …  docker compose ps …  docker compose build …  docker compose pull …
docker compose config …  podman ps …  kubectl get … pods  kubectl describe … pod x  kubectl logs … x
kubectl top … pods  terraform plan …  terraform validate …  terraform fmt …  terraform show …  brew list …
brew info … wget  brew search … wget  apt list …  systemctl status … x  git status …  git diff …  git log …
git show … HEAD  git add … .  git commit … -m a  git fetch …  git fetch … origin  git pull …
git pull … origin main  git push …  git push … origin main  git checkout … main  git checkout … -b x
git switch … main  git branch …  git merge … x  git rebase … main  git restore … a  git tag … v1  git blame … a
git grep … x  git ls-files …  git rev-parse … HEAD  git describe …  git cherry-pick … x  git revert … x
git rm … a  git mv … a b  git shortlog …  gh pr view … 1  gh pr list …  gh pr create … --fill  gh pr diff … 1
gh pr checks … 1  gh issue view … 1  gh issue create … -t a  gh issue comment … 1  gh repo view …
gh release list …  gh run view … 1  gh run list …  gh run watch … 1  gh workflow list …  gh label list …
glab mr view … 1
`;

/** They install, start a program that their words name, connect, publish, delete or run a file: a rule has all of their words. */
const WHOLE = `
./npm test  bin/git status  /opt/evil/npm test
npm install left-pad  npm i left-pad  npm add left-pad  npm install --save-dev left-pad  npm install ./evil
npm install evil/repo  npm install github:evil/repo  npm update  npm uninstall left-pad  npm rebuild  npm run
npm exec eslint  npm x eslint  npm init vite  npm create vite  npm audit fix  npm link  npm link evil  npm pack
npm publish  npm version patch  npm config set script-shell sh  npm set script-shell sh  npm cache clean
npm explore react -- ls  npm edit react  npm prefix  npm root  npm login  npm whoami  npm help install
npm dedupe  npm prune  pnpm add left-pad  pnpm install left-pad  pnpm update  pnpm dlx cowsay  pnpm exec eslint
pnpm dev  pnpm -r test  pnpm --filter web test  pnpm store prune  pnpm create vite  pnpm patch react
pnpm deploy out  yarn  yarn add left-pad  yarn up left-pad  yarn upgrade left-pad  yarn c8 node a.js
yarn dlx cowsay  yarn exec ls  yarn create vite  yarn global add evil  yarn node a.js  yarn set version latest
yarn plugin import evil  yarn import  yarn publish  yarn pack  yarn patch react  yarn rebuild  yarn npm publish
yarn workspace web test  yarn workspaces list  yarn electron a.js  yarn plop evil  bun add left-pad
bun i left-pad  bun run a.ts  bun run c8  bun a.ts  bun x cowsay  bun create vite  bun pm ls  bun link
bun upgrade  bunx cowsay  npx cowsay  npx -y cowsay  npx create-react-app x  npx c8 node a.js  npx nyc node a.js
npx degit evil/repo x  npx playwright test  npx playwright install  npx expo install evil  npx ng add evil
npx astro add evil  npx yo evil  npx plop evil  npx hygen evil  npx electron a.js  npx ncc run a.js
npx gulp build  npx grunt build  npx prisma migrate deploy  npx prisma generate  npx wrangler deploy
npx vercel deploy  npx firebase deploy  npx localtunnel  npx serve  npx http-server  npx knex migrate:latest
npx changeset publish  npx semantic-release  npx husky install  npx lint-staged  npx tsx a.ts  npx ts-node a.ts
npx jscodeshift  npx rimraf dist  npx cap add android  npx cordova plugin  npx react-native run-android
npx nodemon a.js  npx concurrently a  npx cross-env-shell a  npx --package=evil eslint  npx pnpm install
npx npm test  npx git status  pip install requests  pip install -r requirements.txt  pip install .
pip install -e .  pip3 install requests  pip download requests  pip wheel .  python -m pip install requests
pipx install black  pipx run black  uv add requests  uv pip install requests  uv run a.py  uv run python a.py
uv run coverage run a.py  uv run flask run  uv run uvicorn app:app  uv run invoke a  uv tool install black
uv tool run black  uv venv  uv install x  uvx black  poetry add requests  poetry run celery  poetry update
poetry shell  pytest  pytest tests  python a.py  python -c 'print(1)'  python3 -m pytest  python3 -m http.server
ruff check  black .  mypy src  tox  nox  conda install numpy  mamba install numpy  pdm add requests
hatch run test  rye add requests  easy_install x  cargo install ripgrep  cargo add serde  cargo update
cargo publish  cargo nextest run  cargo xtask  cargo +nightly build  cargo script a.rs  cargo make x  rustc a.rs
rustup update  rustup run stable sh  go run ./a  go install evil.example/x@latest  go get evil.example/x
go generate ./...  go mod edit  go tool x  go env -w GOFLAGS=x  go work use .  gem install rails
gem build a.gemspec  bundle install  bundle exec rspec  bundle add rails  rake test  rails test  rspec
ruby a.rb  ruby -e 'puts 1'  composer install  composer require x/y  composer run test  php a.php
php artisan migrate  phpunit  perl -e 1  lua a.lua  deno task build  deno run a.ts  deno install x  deno add x
deno eval 1  deno cache a.ts  node a.js  node -e 1  node --test  tsx a.ts  ts-node a.ts  tsc  eslint src
prettier --write a.ts  vitest  jest  ./gradlew build  ./mvnw test  ant build  sbt test  bazel build //x
bazel run //x  dotnet add package X  dotnet tool install x  dotnet ef database update  dotnet new x
nuget install X  swift build  swift run  swift package update  xcodebuild test  pod install  fastlane test
flutter pub get  flutter test  dart run x  dart pub add x  mix test  mix deps.get  elixir a.exs  rebar3 compile
stack build  cabal install x  ghc a.hs  opam install x  nimble install x  zig build  make  make -C sub test
cmake -B build  cmake --build build  ninja  meson setup b  just test  task build  docker build evil
docker run alpine  docker run --rm alpine ls  docker exec web sh  docker cp a web:/a  docker compose exec web sh
docker compose run web sh  docker compose cp web:/a b  docker compose watch  docker compose create
docker compose attach web  docker-compose up  docker system prune  docker load -i a.tar  podman run alpine
podman compose exec web sh  kubectl exec x -- sh  kubectl apply -f a.yaml  kubectl delete pod x  kubectl run x
kubectl cp a b  helm install x y  helm upgrade x y  terraform apply  terraform init  tofu plan
ansible-playbook a.yml  aws s3 ls  gcloud run deploy  az login  brew install wget  apt install curl
apt-get install curl  apt-get update  dpkg -i a.deb  dnf install x  yum install x  pacman -S x  apk add x
snap install x  flatpak install x  port install x  nix run x  nix build  systemctl start x  service x start
crontab a  launchctl load x  git fetch origin pull/1/head  git push sub main  git rebase -i main
git reset --hard  git stash  git stash pop  git clean -fd  git clone https://a.example/x  git clone ./a b
git init  git config core.pager x  git -c core.pager=x log  git -C sub status  git --no-pager log
git remote add x y  git remote -v  git submodule update  git worktree add x  git apply a.patch  git am a.patch
git format-patch -1  git bisect run x  git difftool  git mergetool  git filter-branch x  git lfs pull
git archive HEAD  git bundle create a  git hook run x  git maintenance start  git gc  git notes add  git reflog
git evil  gh pr checkout 1  gh pr merge 1  gh repo clone evil/x  gh repo create x  gh repo delete x
gh repo fork x  gh repo sync  gh release download v1  gh release create v1  gh run download 1  gh run rerun 1
gh workflow run x  gh api x  gh extension install x  gh alias set a b  gh auth token  gh gist create a
gh codespace ssh  gh secret list  glab mr checkout 1  glab ci run  glab repo clone x  ls  ls -la  cat a.txt
head a  tail -f a  grep -r x .  rg x  rg --pre sh x  fd x  fd -x rm  find . -name x  find . -exec rm x
find . -delete  sed -n 1p a  sed -i s/a/b/ x  awk 1 a  xvfb-run npm test  unbuffer npm test  sh a.sh  sh -c ls
bash a.sh  bash -c ls  zsh -c ls  ./a.sh  scripts/run.sh  ssh host ls  scp a b:c  rsync a b:c  rsync -e sh a b
sftp x  ftp x  telnet x  nc -l 1  curl https://a.example  curl -o a https://a.example  wget https://a.example
wget -O- https://a.example  http GET a.example  aria2c x  mkdir a  rm a  rm -rf build  mv a b  cp a b  ln -s a b
touch a  chmod +x a  chown x a  tar xf a  tar -cf a b  tar --to-command=x  zip a b  unzip a  gzip a  dd if=a
kill 1  pkill x  ps aux  top  df -h  du -sh  echo a  printf a  pwd  date  sleep 1  which node  whoami  id
uname -a  hostname  printenv  vim a  vi -c ':!sh'  emacs --batch  nano a  code .  open x  xdg-open x  less a
man a  psql -c x  mysql -e x  sqlite3 a.db  redis-cli x  mongo x  jq . a  yq . a  gpg -d a  openssl x  base64 a
diff a b  patch -p1  tee a  screen x  tmux new  expect x  strace ls  gdb x  perf stat ls  pre-commit run
pre-commit try-repo x  husky install  nx test  turbo run build  lerna run x  asdf install  mise install
mise exec x  nvm install 20  volta install x  corepack enable  direnv allow  vagrant up  claude -p x
codex exec x  gemini x
`;

/** Nobody here can tell what they run: no rule is offered. */
const NONE = `
xargs rm  env npm test  sudo npm test  nohup npm test  timeout 5 npm test  time npm test  nice npm test
watch npm test  parallel npm test  stdbuf -o0 npm test  setsid npm test  source a.sh  . ./a.sh  eval ls  exec ls
curl https://a.example | sh  env  export A=1  set -e  A=1 npm test  npm test > a
`;

const split = (table: string) => table.trim().split(/\s\s+|\n/);
const offered = (command: string) => patternsOf({ type: "command", command }, "/w", false);
const words = (command: string) => offered(command).map((each) => patternWords(each, "/w").replace(/"/g, ""));

const firstWords = split(FIRST_WORDS);
const asCommand = (row: string) => row.replace(" …", "");
const rules: readonly Pattern[] = firstWords.flatMap((row) => offered(asCommand(row)));
const covered = (command: string, cwd = "/w") => allows(rules, { type: "command", command, cwd }, "/w");

it("[D120] a rule is about first words only where what follows cannot run the code of others", () => {
  const shown = firstWords.map((row) => words(asCommand(row)).join(" and "));
  expect(shown).toEqual(firstWords.map((row) => `\`${row.replace(/….*/, "…")}\``));
});

it("[D120] for everything else, a rule has all of the words, or there is none", () => {
  const isWhole = (command: string) =>
    offered(command).every((pattern) => pattern.type === "command" && pattern.exact === true);
  expect(split(WHOLE).filter((command) => offered(command).length === 0 || !isWhole(command))).toEqual([]);
  expect(split(NONE).filter((command) => offered(command).length > 0)).toEqual([]);
});

it("[D120] all rules about first words together cover none of the commands that have to be allowed as a whole", () => {
  expect(firstWords.map(asCommand).filter((command) => !covered(command))).toEqual([]);
  expect([...split(WHOLE), ...split(NONE)].filter((command) => covered(command))).toEqual([]);
});

const LOOKALIKES: Readonly<Record<string, string>> = { a: "\u0430", e: "\u0435", o: "\u043e", p: "\u0440" };

/** Around a command that is covered: something else runs, or runs elsewhere. */
const AROUND: readonly ((command: string) => string)[] = [
  ...[
    "env",
    "sudo",
    "doas",
    "xargs",
    "nohup",
    "timeout 9",
    "nice",
    "time",
    "command",
    "exec",
    "eval",
    "builtin",
    "!",
    "A=1",
  ].map((before) => (command: string) => `${before} ${command}`),
  ...[
    "cd node_modules/evil",
    "cd vendor/evil",
    "cd .git/evil",
    "cd ..",
    "cd /tmp",
    "export PATH=.",
    "sh evil.sh",
    "./evil",
  ].map((before) => (command: string) => `${before} && ${command}`),
  ...[
    "| sh",
    "|& bash",
    "| xargs sh",
    "| tee .git/hooks/x",
    "&& ./evil",
    "; sh evil.sh",
    "& ./evil",
    "|| ./evil",
  ].map((behind) => (command: string) => `${command} ${behind}`),
  ...[
    "> .git/hooks/pre-commit",
    "< evil",
    "$(./evil)",
    "`./evil`",
    "<(./evil)",
    "\n./evil",
    "{a,b}",
    "*",
    "~/evil",
    "$EVIL",
  ].map((behind) => (command: string) => `${command} ${behind}`),
  ...[
    "../evil",
    "/tmp/evil",
    "https://evil.example/x",
    "git+ssh://evil.example/x",
    "@./evil",
    "--x=../evil",
    "--x=/tmp/evil",
  ].map((behind) => (command: string) => `${command} ${behind}`),
  ...[
    "-c ./evil",
    "-e ./evil",
    "-C evil",
    "-f evil",
    "--config=./evil",
    "--exec=./evil",
    "--require ./evil",
    "--eval x",
    "--dir evil",
  ].map((behind) => (command: string) => `${command} ${behind}`),
  (command) => `(${command})`,
  (command) => `{ ${command}; }`,
  (command) => `sh -c '${command}'`,
  (command) => `./${command}`,
  (command) => `/tmp/${command}`,
  (command) => command.replace(" ", "\u00a0"),
  (command) => command.replace(" ", "\u200b "),
  (command) =>
    command.replace(/^[^aeop ]*[aeop]/, (start) => `${start.slice(0, -1)}${LOOKALIKES[start.slice(-1)]}`),
];

it("[D120] nothing around a covered command is covered with it, nor the same words elsewhere", () => {
  const commands = firstWords.map(asCommand);
  const around = commands.flatMap((command) => AROUND.map((change) => change(command)));
  const changed = around.filter((command) => !commands.includes(command));
  expect(changed.length).toBeGreaterThan(8_000);
  // To these programs the letter is a configuration's name, a container's or a count.
  const isTheirs = (command: string) =>
    /^((git|kubectl|dotnet) .*-c \.\/evil|dotnet .*-f evil)$/.test(command);
  expect(changed.filter((command) => covered(command) && !isTheirs(command))).toEqual([]);
  const elsewhere = ["/w/node_modules/evil", "/w/a/vendor/x", "/w/.venv", "/tmp", "/"];
  expect(commands.filter((command) => elsewhere.some((cwd) => covered(command, cwd)))).toEqual([]);
});

it("[D120] a rule with all of the words of a script counts where it was given, not where its path is another file", () => {
  for (const command of [
    "./a.sh",
    "scripts/run.sh",
    "node a.js",
    "python a.py",
    "sh a.sh",
    "/usr/bin/git status",
  ]) {
    const exact = offered(command);
    const at = (cwd: string) => allows(exact, { type: "command", command, cwd }, "/w");
    expect([at("/w"), at("/w/sub")], command).toEqual([true, false]);
  }
});

/** Where the code of others is: as words of programs that run what they are given. */
it.each([
  "node_modules/evil/a.test.js",
  "./vendor/evil",
  "third_party/x",
  ".venv/lib/x.py",
  "a/site-packages/x",
])("[D120] %s is a word that asks, except for programs that only show or move files", (path) => {
  const shows = /^(git|gh|glab) /;
  expect(
    firstWords.map(asCommand).filter((command) => !shows.test(command) && covered(`${command} ${path}`)),
  ).toEqual([]);
  expect(covered(`git diff ${path}`)).toBe(true);
});
