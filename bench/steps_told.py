# SPDX-License-Identifier: Apache-2.0
"""A fourth family of real programs for bench/steps.sh: 16 that iterate and 8 that do not, each of another kind, without pauses of their own but where such a program has some. Each that iterates
keeps the begin, end and kind (plain, warm-up, checkpoint) of every step in memory and writes them at its end. Written before it was seen why others were missed; half were kept aside while the
search was mended. Prints columns: what and percent, beside each job on standard error.

    steps_told.py open|kept [FOLDER]     FOLDER: keeps the recordings there, or judges those that are there again"""
import concurrent.futures
import os
import subprocess
import sys

from steps_tally import judge, main, print_tally

SONDE = os.environ["SONDE"]
# Name of the source, interval between samples ("": Sonde's own), whether it iterates.
OPEN = (("train.py", "20ms", True),
        ("csvs.py", "20ms", True),
        ("walks.c", "20ms", True),
        ("chunks.py", "40ms", True),
        ("assemble.c", "20ms", True),
        ("quick.py", "50ms", True),
        ("results.c", "40ms", True),
        ("months.py", "", True),
        ("units.sh", "50ms", False),
        ("index.py", "100ms", False),
        ("search.c", "50ms", False),
        ("served.py", "", False))
KEPT = (("stencil.c", "20ms", True),
        ("inserts.py", "20ms", True),
        ("fetch.py", "50ms", True),
        ("loop.sh", "", True),
        ("bodies.c", "40ms", True),
        ("helpers.py", "", True),
        ("fill.c", "20ms", True),
        ("genes.py", "40ms", True),
        ("merge.sh", "50ms", False),
        ("quadrature.py", "50ms", False),
        ("anneal.c", "20ms", False),
        ("unpack.sh", "", False))
# They make their input in a loop, too: not recorded.
PREPARES = ("csvs.py", "chunks.py")
SOURCES = {}
SOURCES["told.h"] = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static struct { double begin, end; const char *kind; } told_step[4096];
static int told_n;
static double told_last;
static double told_now(void){struct timespec t;clock_gettime(CLOCK_REALTIME,&t);return (double)t.tv_sec+1e-9*(double)t.tv_nsec;}
static inline void told_begin(void){told_last=told_now();}
static inline void told(const char *kind){double t=told_now();told_step[told_n].begin=told_last;told_step[told_n].end=t;told_step[told_n++].kind=kind;told_last=t;}
static inline void told_write(void){FILE*f=fopen("truth","w");for(int i=0;i<told_n;i++)fprintf(f,"%.6f %.6f %s\n",told_step[i].begin,told_step[i].end,told_step[i].kind);fclose(f);}
static inline double uni(void){return drand48();}
static inline double gauss(void){return sqrt(-2*log(1-uni()))*cos(6.283185307*uni());}
"""
SOURCES["told.py"] = r"""
import time
steps, inner, last = [], [], 0
def begin():
    global last
    last = time.time()
def told(kind="plain"):
    global last
    now = time.time()
    steps.append((last, now, kind))
    last = now
def told_inner(begin):
    inner.append((begin, time.time(), "plain"))
def write():
    for name, told in ("truth", steps), ("truth2", inner):
        if told:
            with open(name, "w") as f:
                f.writelines("%.6f %.6f %s\n" % s for s in told)
"""

# ---- open: those that iterate ----

SOURCES["train.py"] = r"""
import numpy as np, told
r = np.random.default_rng(41)
for k in range(4):
    np.save(f"shard{k}.npy", r.standard_normal((2000, 200)).astype("f4"))
test = r.standard_normal((4000, 200)).astype("f4")
w = [r.standard_normal((200, 200)).astype("f4") / 20, r.standard_normal((200, 10)).astype("f4") / 20]
told.begin()
for epoch in range(36):
    loss = 0
    for k in r.permutation(4):
        x = np.load(f"shard{k}.npy")
        for b in np.array_split(x[r.permutation(len(x))], 30):
            h = np.tanh(b @ w[0]); o = h @ w[1]; g = (o - o.mean(0)) / len(b)
            loss += float((g * g).sum()); d = (g @ w[1].T) * (1 - h * h)
            w[1] -= 1e-2 * h.T @ g; w[0] -= 1e-2 * b.T @ d
    print(epoch, loss, flush=True)
    if epoch % 6 == 5:
        print("validation", float(np.tanh(test @ w[0]).sum()), float(np.sort(np.tanh(test @ w[0]), axis=0)[0].sum()), flush=True)
        np.savez("weights.npz", *w)
    told.told("checkpoint" if epoch % 6 == 5 else "plain")
told.write()
"""
SOURCES["csvs.py"] = r"""
import sys, numpy as np, pandas as pd, told
r = np.random.default_rng(42)
for k in range(24 if sys.argv[1:] else 0):
    n = int(70000 * (1 + 0.08 * r.standard_normal()))
    pd.DataFrame({"day": r.integers(0, 300, n), "site": r.integers(0, 40, n), "v": r.standard_normal(n)}).to_csv(f"in{k}.csv", index=False)
told.begin()
for k in range(0 if sys.argv[1:] else 24):
    t = pd.read_csv(f"in{k}.csv")
    t["anomaly"] = t.v - t.groupby("site").v.transform("mean")
    t.pivot_table(index="day", columns="site", values="anomaly", aggfunc=["mean", "max"]).to_csv(f"out{k}.csv")
    t.sort_values(["site", "v"]).head(20000).to_csv("worst.csv", index=False)
    told.told()
told.write()
"""
SOURCES["walks.c"] = r"""
#include "told.h"
static unsigned hits[256][256];
int main(void){srand48(43);told_begin();
 for(int b=0;b<44;b++){long moves=0;int walkers=(int)(1500*(1+0.12*gauss()));
  for(int w=0;w<walkers;w++){int x=128,y=128;while(x>0&&y>0&&x<255&&y<255){unsigned z=(unsigned)lrand48();x+=(int)(z>>8&2)-1;y+=(int)(z>>16&2)-1;hits[x][y]++;moves++;}}
  printf("%d %ld\n",b,moves);fflush(stdout);
  if(b%8==7){for(int i=0;i<6;i++){char n[16];sprintf(n,"map%d",i);FILE*f=fopen(n,"w");for(int x=0;x<256;x++)for(int y=0;y<256;y++)fprintf(f,"%u ",hits[x][y]);fclose(f);}}
  told(b%8==7?"checkpoint":"plain");}
 told_write();}
"""
SOURCES["chunks.py"] = r"""
import gzip, random, sys, told
if sys.argv[1:]:
    r = random.Random(44)
    words = [bytes(r.choices(b"abcdefghijklmnopqrstuvwxyz", k=r.randint(2, 11))) for _ in range(9000)]
    with open("big", "wb") as f:
        for _ in range(38):
            f.write(b" ".join(r.choices(words, k=int(430000 * r.uniform(0.95, 1.05)))))
told.begin()
with open("big", "rb") as f:
    for k in range(0 if sys.argv[1:] else 38):
        data = f.read(3 << 20)
        if len(data) < 3 << 20:
            break
        with open("big.%d.gz" % k, "wb") as out:
            out.write(gzip.compress(data, 5))
        told.told()
told.write()
"""
SOURCES["assemble.c"] = r"""
#include "told.h"
enum{N=1<<17};
static double a[9][N],x[N],p[N],q[N];
static void assemble(int s){
#pragma omp parallel for
 for(int i=0;i<N;i++)for(int k=0;k<9;k++)a[k][i]=k==4?9+sin(1e-3*i*s):-exp(-0.5*k+1e-9*i*s)*cos(i*0.1+k+s);}
static double apply(void){double d=0;for(int i=4;i<N-4;i++){double v=0;for(int k=0;k<9;k++)v+=a[k][i]*p[i+k-4];q[i]=v;d+=v*p[i];}return d;}
int main(void){srand48(45);told_begin();
 for(int s=0;s<34;s++){for(int k=0;k<6+(int)(2*uni());k++)assemble(s);
  for(int i=0;i<N;i++)p[i]=uni();
  double r=0;int most=120+(int)(8*gauss());for(int k=0;k<most;k++){double d=apply();for(int i=0;i<N;i++){x[i]+=p[i]/(1+fabs(d));p[i]=p[i]*0.9+1e-3*q[i]/(1+fabs(d));}r=d;}
  printf("%d %g\n",s,r);fflush(stdout);told("plain");}
 told_write();}
"""
SOURCES["quick.py"] = r"""
import json, random, time, told
r, state, due = random.Random(46), [0.0] * 400, time.monotonic()
told.begin()
for k in range(120):
    seen = [r.gauss(0, 1) for _ in state]
    for _ in range(60):
        state = [0.9 * s + 0.1 * z for s, z in zip(state, seen)]
    if k % 20 == 19:
        with open("state.json", "w") as f:
            json.dump(state, f)
    due += 0.25
    time.sleep(max(0, due - time.monotonic()))
    told.told()
told.write()
"""
SOURCES["results.c"] = r"""
#include "told.h"
static float f[1<<20];
int main(void){srand48(47);for(int i=0;i<1<<20;i++)f[i]=(float)uni();told_begin();
 for(int s=0;s<40;s++){int n=300+(int)(20*gauss());for(int k=0;k<n;k++)for(int i=0;i<1<<20;i++)f[i]=0.999f*f[i]+1e-3f*f[(i+17)&0xfffff];
  FILE*o=fopen("results","a");fwrite(f,sizeof f[0],1<<19,o);fclose(o);told("plain");}
 told_write();}
"""
SOURCES["months.py"] = r"""
import numpy as np, os, subprocess, time, told
r = np.random.default_rng(48)
field = r.standard_normal((700, 700))
told.begin()
for month in range(11):
    days = int(30 * (1 + 0.05 * r.standard_normal()))
    for day in range(days):
        morning = time.time()
        for _ in range(3):
            field = 0.999 * field + 0.05 * (np.roll(field, 1, 0) + np.roll(field, -1, 1) - 2 * field) * np.cos(field)
        field /= np.abs(field).max()
        subprocess.run(["sleep", "0.18"])  # what a model of the ocean takes
        told.told_inner(morning)
    for k in range(6):
        np.save("month%d.%d.npy" % (month % 3, k), field)
    os.sync()
    told.told()
told.write()
"""

# ---- open: those that do not ----

SOURCES["units.sh"] = r"""
RANDOM=51
for i in $(seq 26); do
 case $((RANDOM % 5)) in
 0) h='vector'; l=c++;; 1) h='stdio.h'; l=c;; 2) h='regex'; l=c++;; 3) h='math.h'; l=c;; *) h='iostream'; l=c++;; esac
 { echo "#include <$h>"; for j in $(seq $((RANDOM % 400))); do echo "int f$j(int a){int s=$j;while(a-->0){s=s*31+a;switch(s%7){case 0:s+=a;break;case 3:s-=5;}}return s;}"; done; } >u$i
 gcc -x $l -O$((RANDOM % 3)) -c u$i -o u$i.o || true
done
"""
SOURCES["index.py"] = r"""
import os, re, sqlite3, time
db, end = sqlite3.connect("index.db"), time.monotonic() + 26
db.execute("create table t (word text, file text)")
seen = 0
for top in ("/usr/include", "/usr/lib/python3.11", "/usr/share/perl", "/usr/lib/gcc", "/usr/share/doc"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if time.monotonic() > end or not os.path.isfile(path):
                continue
            with open(path, "rb") as f:
                words = set(re.findall(rb"[A-Za-z_]{4,}", f.read(2000000)))
            db.executemany("insert into t values (?, ?)", [(w.decode(), path) for w in words])
            seen += len(words)
            if seen > 60000:
                db.commit()
                seen = 0
db.execute("create index i on t (word)")
db.commit()
"""
SOURCES["search.c"] = r"""
#include "told.h"
enum{N=34};
static int w[N],v[N],best,*kept[64];
static double end;
static void go(int i,int room,int value,long*nodes){if(++*nodes%4096==0&&told_now()>end)return;
 if(value>best){best=value;free(kept[value&63]);kept[value&63]=malloc((size_t)(value%977+1)*4096);memset(kept[value&63],1,(size_t)(value%977+1)*4096);printf("%d after %ld\n",best,*nodes);fflush(stdout);}
 if(i==N)return;int most=value;for(int k=i;k<N;k++)most+=v[k];if(most<=best)return;if(w[i]<=room)go(i+1,room-w[i],value+v[i],nodes);go(i+1,room,value,nodes);}
int main(void){srand48(53);end=told_now()+25;while(told_now()<end){best=0;int all=0;long nodes=0;for(int i=0;i<N;i++){w[i]=1000+(int)(9000*uni());v[i]=w[i]+(int)(300*uni());all+=w[i];}
  go(0,(int)(all*(0.3+0.3*uni())),0,&nodes);}}
"""
SOURCES["served.py"] = r"""
import hashlib, queue, random, threading, time
r, jobs, end = random.Random(54), queue.Queue(), time.monotonic() + 60
def serve():
    while (n := jobs.get()):
        h = b""
        for _ in range(n):
            h = hashlib.sha256(h + b"x" * 4000).digest()
        with open("done", "a") as f:
            f.write(h.hex() * (n // 1000) + "\n")
worker = threading.Thread(target=serve)
worker.start()
while time.monotonic() < end:
    time.sleep(r.expovariate(0.5))
    jobs.put(int(r.lognormvariate(11.5, 1)))
jobs.put(0)
worker.join()
"""

# ---- kept: those that iterate ----

SOURCES["stencil.c"] = r"""
#include "told.h"
enum{N=1200};
static float a[N][N],b[N][N];
static void sweep(float(*to)[N],float(*of)[N]){
#pragma omp parallel for
 for(int i=1;i<N-1;i++)for(int j=1;j<N-1;j++)to[i][j]=0.2f*(of[i][j]+of[i-1][j]+of[i+1][j]+of[i][j-1]+of[i][j+1]);}
int main(void){srand48(61);for(int i=0;i<N;i++)a[i][0]=b[i][0]=(float)uni();told_begin();
 for(int s=0;s<80;s++){for(int k=0;k<60;k++){sweep(b,a);sweep(a,b);}
  double sum=0;for(int k=0;k<3;k++)for(int i=0;i<N;i++)for(int j=0;j<N;j++)sum+=sqrt(fabs(a[i][j]-b[i][j])+1e-12);
  printf("%d %g\n",s,sum);fflush(stdout);
  if(s%8==7){FILE*f=fopen("field","w");for(int i=0;i<N;i++)for(int j=0;j<N;j+=2)fprintf(f,"%g ",a[i][j]);fclose(f);}
  told(s%8==7?"checkpoint":"plain");}
 told_write();}
"""
SOURCES["inserts.py"] = r"""
import random, sqlite3, told
r, db = random.Random(62), sqlite3.connect("rows.db")
db.execute("create table t (id integer primary key, at real, name text, v real)")
told.begin()
for batch in range(40):
    rows = [(r.random(), "name%d" % r.randint(0, 99999), r.gauss(0, 1)) for _ in range(int(50000 * r.uniform(0.92, 1.08)))]
    db.executemany("insert into t (at, name, v) values (?, ?, ?)", rows)
    db.commit()
    if batch % 10 == 9:
        db.execute("select name, count(*), avg(v) from t group by name order by 2 desc limit 9").fetchall()
    told.told("checkpoint" if batch % 10 == 9 else "plain")
told.write()
"""
SOURCES["fetch.py"] = r"""
import asyncio, json, random, told
r = random.Random(63)
async def serve(reader, writer):
    n = int(await reader.readline())
    await asyncio.sleep(min(0.6, 0.15 + r.expovariate(14)))
    writer.write(json.dumps([{"id": k, "v": k * 0.5} for k in range(n)]).encode())
    await writer.drain()
    writer.close()
async def get(n, port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"%d\n" % n)
    return json.loads(await reader.read())
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    told.begin()
    for batch in range(42):
        got = await asyncio.gather(*[get(r.randint(2000, 4000), port) for _ in range(24)])
        with open("all.json", "a") as f:
            json.dump([sum(x["v"] for x in g) for g in got], f)
        told.told()
asyncio.run(main())
told.write()
"""
SOURCES["loop.sh"] = r"""
RANDOM=64
last=$EPOCHREALTIME
for i in $(seq 26); do
  seq $((900000 + RANDOM * 4)) | awk -v s=$i '{ x[$1 % 5000] += $1 * s } END { for (k in x) print k, x[k] }' >out.$i
  now=$EPOCHREALTIME; all+="$last $now plain"$'\n'; last=$now
done
printf %s "$all" >truth
"""
SOURCES["bodies.c"] = r"""
#include "told.h"
static float x[9000],y[9000],u[9000],v[9000];
int main(void){srand48(65);int n=2600;for(int i=0;i<9000;i++){x[i]=(float)gauss();y[i]=(float)gauss();}told_begin();
 for(int s=0;s<42;s++,n+=55){for(int k=0;k<6;k++){for(int i=0;i<n;i++){float a=0,b=0;for(int j=0;j<n;j++){float p=x[j]-x[i],q=y[j]-y[i],d=1/(p*p+q*q+0.1f);a+=p*d;b+=q*d;}u[i]+=a*1e-5f;v[i]+=b*1e-5f;}
   for(int i=0;i<n;i++){x[i]+=u[i];y[i]+=v[i];}}
  FILE*f=fopen("trajectory","a");fwrite(x,4,(size_t)n,f);fwrite(y,4,(size_t)n,f);fclose(f);told("plain");}
 told_write();}
"""
SOURCES["helpers.py"] = r"""
import random, subprocess, told
r = random.Random(66)
told.begin()
for k in range(30):
    total = 0
    for i in range(int(2500000 * r.uniform(0.95, 1.05))):
        total += i * i % 7
    subprocess.run(["sha256sum"], input=b"%d" % total * 1000, stdout=subprocess.DEVNULL)
    told.told()
told.write()
"""
SOURCES["fill.c"] = r"""
#include "told.h"
int main(void){srand48(67);unsigned h=1;told_begin();
 for(int s=0;s<40;s++){char*held[48];int n=36+(int)(12*uni());for(int k=0;k<n;k++){held[k]=malloc(1<<20);for(int i=0;i<1<<20;i++){h=h*1664525u+1013904223u;held[k][i]=(char)(h>>24);}for(int p=0;p<3;p++)for(int i=0;i<1<<20;i++)h=h*31+(unsigned char)held[k][i];}
  for(int k=0;k<n;k++)free(held[k]);told("plain");}
 printf("%u\n",h);told_write();}
"""
SOURCES["genes.py"] = r"""
import multiprocessing, random, told
def fitness(g):
    s = 0
    for k in range(150):
        for x in g:
            s = (s * 31 + x * k) % 1000003
    return s
if __name__ == "__main__":
    r = random.Random(68)
    all_of = [[r.randint(0, 99) for _ in range(120)] for _ in range(160)]
    with multiprocessing.Pool(2) as pool:
        told.begin()
        for generation in range(40):
            best = [g for _, g in sorted(zip(pool.map(fitness, all_of, chunksize=8), all_of))[:40]]
            all_of = [[x if r.random() < 0.9 else r.randint(0, 99) for x in r.choice(best)] for _ in range(160)]
            for _ in range(8):
                sorted(tuple(g) for g in all_of)
            told.told()
    told.write()
"""

# ---- kept: those that do not ----

SOURCES["merge.sh"] = r"""
RANDOM=71
for i in $(seq 12); do seq $((RANDOM * 8 + 20000)) | sed 's/.*/& &7 x&/' | sort -R >run.$i; [ $((RANDOM % 3)) = 0 ] && gzip -k run.$i; done
sort -k2 run.* >all
while [ $(wc -l <all) -gt 90000 ]; do n=$(($(wc -l <all) * (30 + RANDOM % 60) / 100)); head -n $n all | sort -rk3 >next; mv next all; done
"""
SOURCES["quadrature.py"] = r"""
import math, random, time
r, end = random.Random(72), time.monotonic() + 25
def f(x, c):
    return math.sin(c / (abs(x) + 1e-3)) * math.exp(-x * x)
def area(a, b, c, deep, left):
    m = (a + b) / 2
    one, two = (b - a) * f(m, c), (b - a) / 2 * (f((a + m) / 2, c) + f((m + b) / 2, c))
    if deep == 0 or abs(one - two) < 1e-9 * left or time.monotonic() > end:
        return two
    return area(a, m, c, deep - 1, left / 2) + area(m, b, c, deep - 1, left / 2)
while time.monotonic() < end:
    c = r.lognormvariate(0, 2)
    print(c, area(-3, 3, c, 22, 1e3), flush=True)
"""
SOURCES["anneal.c"] = r"""
#include "told.h"
enum{N=900};
static double x[N],y[N];
static int at[N];
static double away(int a,int b){return hypot(x[a]-x[b],y[a]-y[b]);}
int main(void){srand48(73);double end=told_now()+25;for(int i=0;i<N;i++){x[i]=uni();y[i]=uni();at[i]=i;}
 while(told_now()<end){double heat=exp(-1-3*uni()),cool=1-exp(-10-4*uni());long n=0;
  for(;heat>1e-4&&told_now()<end;heat*=cool,n++){int i=1+(int)(uni()*(N-3)),j=1+(int)(uni()*(N-3));if(i>j){int k=i;i=j;j=k;}
   double d=away(at[i-1],at[j])+away(at[i],at[j+1])-away(at[i-1],at[i])-away(at[j],at[j+1]);
   if(d<0||uni()<exp(-d/heat))for(;i<j;i++,j--){int k=at[i];at[i]=at[j];at[j]=k;}}
  double all=0;for(int i=1;i<N;i++)all+=away(at[i-1],at[i]);printf("%ld %g\n",n,all);fflush(stdout);
  if(uni()<0.3){FILE*f=fopen("tour","w");for(int i=0;i<N;i++)fprintf(f,"%d\n",at[i]);fclose(f);}}}
"""
SOURCES["unpack.sh"] = r"""
tar cf - /usr/lib/python3.11 2>/dev/null | gzip -3 >lib.tgz
tar xzf lib.tgz
python3 -m compileall -q -f usr/lib/python3.11 >/dev/null || true
find usr -name '*.py' -print0 | xargs -0 wc -l | sort -n | tail -n 100 >longest
tar cf - usr | xz -1 >again.txz
"""


def command(name, sources):
    """What runs it, built first if it must be."""
    stem, ending = name.split(".")
    path, program = f"{sources}/{name}", f"{sources}/{stem}"
    with open(path, "w", encoding="utf-8") as f:
        f.write(SOURCES[name])
    if ending != "c":
        return [{"py": os.environ.get("STEPS_PYTHON", sys.executable), "sh": "bash"}[ending], path]
    subprocess.run(["cc", "-O2", "-g", "-fopenmp", "-o", program, path, "-lm"], check=True, stderr=subprocess.DEVNULL)
    return [program]


def record(folder, interval, words):
    if os.path.exists(f"{folder}/rec"):
        return
    os.makedirs(folder)
    if os.path.basename(words[-1]) in PREPARES:
        subprocess.run([*words, "prepare"], check=True, cwd=folder)
    often = ["-i", interval] if interval else []
    subprocess.run([SONDE, "run", "-q", "--no-history", *often, "-o", "rec", "--", *words], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def run(half, scratch):
    jobs = {"open": OPEN, "kept": KEPT}[half]
    os.makedirs(f"{scratch}/sources", exist_ok=True)
    for name in "told.h", "told.py":
        with open(f"{scratch}/sources/{name}", "w", encoding="utf-8") as f:
            f.write(SOURCES[name])
    words = [command(name, f"{scratch}/sources") for name, _, _ in jobs]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda x: record(f"{scratch}/{x[0][0]}.run", x[0][1], x[1]), zip(jobs, words)))
    print_tally(x for name, _, _ in jobs for x in judge(f"{scratch}/{name}.run", name))


main(run)
