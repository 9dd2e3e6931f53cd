# SPDX-License-Identifier: Apache-2.0
"""A third family of real programs for bench/steps.sh: 16 that iterate, in C, with OpenMP and MPI, in Python with NumPy, Node, Go and shell, with checkpoints, warm-up,
two phases of other steps, and 8 that do not. Written before their author read the search; half of them were kept aside while it was mended. The median plain step that is
found beside the program's own (of two phases, of one of them). Prints columns: what and percent, beside each job on standard error.

    steps_varied.py open|kept [FOLDER]     FOLDER: keeps the recordings there, or judges those that are there again"""
import concurrent.futures
import os
import shutil
import subprocess
import sys

from steps_tally import judge, main, print_tally

SONDE = os.environ["SONDE"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2"]
# Name of the source, interval between samples, whether it iterates.
OPEN = (("heat.c", "20ms", True),
        ("training.py", "50ms", True),
        ("batches.js", "40ms", True),
        ("files.sh", "50ms", True),
        ("regions.c", "40ms", True),
        ("ranks.c", "50ms", True),
        ("sorts.go", "100ms", True),
        ("phases.py", "50ms", True),
        ("build.sh", "50ms", False),
        ("pool.py", "50ms", False),
        ("walk.py", "40ms", False),
        ("server.js", "40ms", False))
KEPT = (("stream.c", "100ms", True),
        ("draws.py", "20ms", True),
        ("workers.js", "40ms", True),
        ("sums.sh", "100ms", True),
        ("halves.c", "50ms", True),
        ("halo.c", "20ms", True),
        ("archive.go", "100ms", True),
        ("tables.py", "50ms", True),
        ("trees.go", "50ms", False),
        ("requests.py", "40ms", False),
        ("configure.sh", "50ms", False),
        ("tasks.c", "50ms", False))
SOURCES = {}
SOURCES["clock.h"] = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <math.h>
#include <unistd.h>
#include <fcntl.h>
static double now(void){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+1e-9*t.tv_nsec;}
static double cpu(void){struct timespec t;clock_gettime(CLOCK_THREAD_CPUTIME_ID,&t);return t.tv_sec+1e-9*t.tv_nsec;}
static void pausefor(double s){if(s>0){struct timespec t={(time_t)s,(long)((s-(time_t)s)*1e9)};nanosleep(&t,0);}}
static double uni(void){return drand48();}
static double gauss(void){return sqrt(-2*log(1-uni()))*cos(6.283185307*uni());}
static double lengths[10000];static int with[10000],nlengths;
static void note(double s,int checkpoint){lengths[nlengths]=s;with[nlengths++]=checkpoint;}
static void truth(void){FILE*f=fopen("truth","w");for(int i=0;i<nlengths;i++)fprintf(f,"%.6f%s\n",lengths[i],with[i]?" checkpoint":"");fclose(f);}
"""
SOURCES["heat.c"] = r"""
#include "clock.h"
#define N 900
static double a[N][N],b[N][N];
__attribute__((noinline)) static void sweep(void){for(int i=1;i<N-1;i++)for(int j=1;j<N-1;j++)b[i][j]=0.25*(a[i-1][j]+a[i+1][j]+a[i][j-1]+a[i][j+1]);memcpy(a,b,sizeof a);}
__attribute__((noinline)) static double residual(void){double s=0;for(int i=1;i<N-1;i++)for(int j=1;j<N-1;j++)s+=sqrt(fabs(a[i][j]-b[i][j])+1e-9*j);return s;}
int main(void){srand48(1);for(int i=0;i<N;i++)a[0][i]=b[0][i]=1;FILE*log=fopen("log","w");
 for(int s=0;s<100;s++){double t=now();int n=110+(int)(2*gauss());for(int k=0;k<n;k++)sweep();double r=0;for(int k=0;k<22;k++)r+=residual();fprintf(log,"%d %g\n",s,r);fflush(log);
  if(s%10==9){FILE*o=fopen("out","w");fwrite(a,sizeof a,1,o);fclose(o);}
  note(now()-t,s%10==9);}
 truth();}
"""
SOURCES["training.py"] = r"""
import numpy as np, time
rng=np.random.default_rng(2)
X=rng.standard_normal((6000,400)).astype("f4");np.save("data.npy",X);L=[]
W=rng.standard_normal((400,400)).astype("f4");V=rng.standard_normal((400,10)).astype("f4")
for e in range(30):
    t=time.monotonic()
    d=np.load("data.npy");rng.shuffle(d)
    for i in range(0,6000,200):
        b=d[i:i+200];h=np.tanh(b@W);o=h@V;g=o-o.mean(0)
        gV=h.T@g;gW=b.T@((g@V.T)*(1-h*h));V-=1e-7*gV;W-=1e-7*gW
        time.sleep(0.004)
    if e%5==4:
        for _ in range(8): np.tanh(d@W)@V
    time.sleep(0.4+0.02*rng.standard_normal())
    if e%10==9: np.savez("ck.npz",W=W,V=V,d=d)
    L.append("%f%s"%(time.monotonic()-t," checkpoint"*(e%5==4)))
open("truth","w").write("\n".join(L)+"\n")
"""
SOURCES["batches.js"] = r"""
const fs=require('fs');let L=[],n=0,seed=7;const rnd=()=>(seed=(seed*1103515245+12345)%2147483648)/2147483648;
let last=process.hrtime.bigint();
function work(){const items=[];const m=3000+Math.floor(600*rnd());for(let i=0;i<m;i++)items.push({id:i,name:'item'+i,v:rnd(),tags:['a','b',String(i)]});
 for(let k=0;k<12;k++){const s=JSON.stringify(items);JSON.parse(s);if(k==11)fs.appendFileSync('results.ndjson',s.slice(0,20000)+'\n');}
 const t=process.hrtime.bigint();
 setTimeout(()=>{const u=process.hrtime.bigint();L.push(Number(u-last)/1e9);last=u;if(++n<70)work();else fs.writeFileSync('truth',L.join('\n')+'\n');},400*(1+0.1*(rnd()+rnd()+rnd()-1.5)));}
work();
"""
SOURCES["files.sh"] = r"""
RANDOM=4
mkdir in; for i in $(seq 28); do head -c $((700000+RANDOM*20)) /dev/urandom | od -x >in/$i.txt; done
date +%s.%N >times
for f in in/*.txt; do
  sort -k2 $f >sorted; awk '{c[$3]++} END {for (k in c) print k, c[k]}' sorted | sort -rn -k2 | head >>report
  gzip -1 -c sorted >sorted.gz; rm sorted sorted.gz; sleep 0.$((RANDOM%20+10))
  date +%s.%N >>times
done
awk 'NR > 1 { printf "%.6f\n", $1 - last } { last = $1 }' times >truth
"""
SOURCES["regions.c"] = r"""
#include "clock.h"
#include <omp.h>
static double v[1<<20];
int main(void){srand48(5);double acc=0;for(int s=0;s<45;s++){double t=now();int reps=(int)(30*(1+0.05*gauss()));
 for(int r=0;r<reps;r++){
#pragma omp parallel for reduction(+:acc)
  for(int i=0;i<1<<20;i++){v[i]=sin(v[i]+i);acc+=v[i];}}
 for(int r=0;r<8;r++)for(int i=0;i<1<<20;i++)acc+=sqrt(fabs(v[i])+r)*1e-9;
 pausefor(0.08);note(now()-t,0);}
 truth();return acc==12345;}
"""
SOURCES["ranks.c"] = r"""
#include <mpi.h>
#include "clock.h"
int main(int c,char**v){MPI_Init(&c,&v);int me;MPI_Comm_rank(MPI_COMM_WORLD,&me);srand48(6+me);static double x[200000],y[200000];
 for(int s=0;s<40;s++){double t=now();double e=cpu()+0.25*(1+0.06*gauss())*(me?0.9:1);while(cpu()<e)for(int i=0;i<200000;i++)x[i]=x[i]*0.99+i;
  MPI_Allreduce(x,y,200000,MPI_DOUBLE,MPI_SUM,MPI_COMM_WORLD);pausefor(0.3);
  if(s%8==7){if(!me){FILE*f=fopen("ckpt","w");for(int k=0;k<20;k++)fwrite(x,sizeof x,1,f);fflush(f);fsync(fileno(f));fclose(f);}MPI_Barrier(MPI_COMM_WORLD);}
  note(now()-t,s%8==7);}
 if(!me)truth();MPI_Finalize();}
"""
SOURCES["sorts.go"] = r"""
package main
import ("fmt";"math/rand";"os";"sort";"sync";"time")
func main(){r:=rand.New(rand.NewSource(7));var L []float64
 for s:=0;s<20;s++{t:=time.Now();var wg sync.WaitGroup
  for w:=0;w<4;w++{wg.Add(1);n:=200000+r.Intn(60000);go func(n int){defer wg.Done();for k:=0;k<3;k++{m:=map[int]int{};x:=make([]int,n);q:=rand.New(rand.NewSource(int64(n)));for i:=range x{x[i]=q.Int();m[x[i]%5000]++};sort.Ints(x)}}(n)}
  wg.Wait();time.Sleep(time.Duration(1.2*(1+0.05*r.NormFloat64())*1e9));L=append(L,time.Since(t).Seconds())}
 f,_:=os.Create("truth");for _,l:=range L{fmt.Fprintf(f,"%f\n",l)};f.Close()}
"""
SOURCES["phases.py"] = r"""
import hashlib,time,random,zlib,os
rng=random.Random(8);A=[];B=[];data=os.urandom(3000000)
for i in range(40):
    t=time.monotonic();hashlib.sha512(data[:2000000+int(rng.random()*200000)]*8).hexdigest();time.sleep(0.25*(1+0.03*rng.gauss(0,1)));A.append(time.monotonic()-t)
for i in range(14):
    t=time.monotonic();z=zlib.compress(data*4,6);open("z%d"%(i%2),"wb").write(z);time.sleep(0.9*(1+0.05*rng.gauss(0,1)));B.append(time.monotonic()-t)
open("truth","w").write("\n".join(map(str,A))+"\n");open("truth2","w").write("\n".join(map(str,B))+"\n")
"""
SOURCES["build.sh"] = r"""
RANDOM=11; mkdir src; for i in $(seq 60); do { n=$((RANDOM%120+5)); if [ $((RANDOM%6)) = 0 ]; then n=$((n*8)); fi; echo '#include <math.h>'; for j in $(seq $n); do echo "double f${i}_$j(double *a,int n){double s=0;for(int i=0;i<n;i++){s+=sin(a[i]*$j)/(1+a[i]);if(s>$i)s/=a[(i*7)%n]+1;switch(i%$((j%9+2))){case 0:s*=2;break;case 1:s-=1;}}return s;}"; done; } >src/m$i.c; done
{ printf 'all:'; for i in $(seq 60); do printf ' src/m%s.o' $i; done; printf '\n\tar rcs lib.a $^\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n'; } >Makefile
make -j2 >log
"""
SOURCES["pool.py"] = r"""
import multiprocessing,random,time
def task(s):
    e=time.process_time()+s
    while time.process_time()<e: sum(range(300))
    if s>0.5: open("big%d"%int(s*100),"wb").write(b"x"*int(3e6*s))
    return s
if __name__=="__main__":
    r=random.Random(12);e=time.monotonic()+28
    with multiprocessing.Pool(2) as p:
        while time.monotonic()<e:
            for _ in p.imap_unordered(task,[r.lognormvariate(-2.2,1.1) for _ in range(r.randint(1,25))]): pass
"""
SOURCES["walk.py"] = r"""
import os,zlib,collections,time
e=time.monotonic()+25;c=collections.Counter();n=0
while time.monotonic()<e:
  for top in ("/usr/share","/usr/include","/usr/lib/python3","/usr/lib/gcc","/etc","/usr/local/go/src"):
    for d,_,fs in os.walk(top):
        for f in fs:
            p=os.path.join(d,f)
            try:
                if os.path.islink(p) or not os.path.isfile(p): continue
                with open(p,"rb") as h: b=h.read(300000)
            except OSError: continue
            c[zlib.crc32(b)]+=1;n+=1
            if f.endswith((".h",".py",".txt",".go")):
                for w in b.split(): c[w[:3]]+=1
        if time.monotonic()>e: break
    if time.monotonic()>e: break
print(n)
"""
SOURCES["server.js"] = r"""
const http=require('http'),zlib=require('zlib');let seed=14;const rnd=()=>(seed=(seed*1103515245+12345)%2147483648)/2147483648;
const s=http.createServer((q,r)=>{let n=200+Math.floor(-4000*Math.log(1-rnd()));const a=[];for(let i=0;i<n;i++)a.push({i,x:Math.sin(i)});r.end(zlib.gzipSync(JSON.stringify(a)));});
s.listen(0,()=>{const port=s.address().port;const end=Date.now()+26000;
 function next(){if(Date.now()>end){s.close();process.exit(0);}setTimeout(()=>{http.get({port,path:'/'},r=>{r.resume();});next();},-120*Math.log(1-rnd()));}next();});
"""
SOURCES["stream.c"] = r"""
#include "clock.h"
static unsigned char buf[24<<20];
int main(void){srand48(9);{FILE*f=fopen("input","w");for(size_t i=0;i<sizeof buf;i++)buf[i]=(unsigned char)(lrand48()>>7);for(int k=0;k<2;k++)fwrite(buf,sizeof buf,1,f);fclose(f);}
 for(int s=0;s<13;s++){double t=now();double f=1+0.15*(2*uni()-1);int in=open("input",O_RDONLY);size_t n=(size_t)(f*(20<<20)),got=0;while(got<n){ssize_t k=read(in,buf+got,n-got>1<<18?1<<18:n-got);if(k<=0)break;got+=(size_t)k;usleep(5000);}close(in);
  unsigned h=0;int passes=(int)(34*f);for(int p=0;p<passes;p++)for(size_t i=0;i<got;i++){h=h*31+buf[i];h^=h>>13;}
  int o=open("out",O_WRONLY|O_CREAT|O_TRUNC,0600);for(size_t w=0;w<got;w+=1<<19){if(write(o,buf+w,1<<19)<0)return 1;usleep(8000);}close(o);
  pausefor(0.6*f);note(now()-t,0);if(h==1)puts("");}
 truth();}
"""
SOURCES["draws.py"] = r"""
import numpy as np,time
r=np.random.default_rng(10);L=[];tot=0
for i in range(110):
    t=time.monotonic();f=1+2*np.exp(-i/4);n=int(350000*f*(1+0.08*r.standard_normal()))
    x=r.standard_normal((max(n,1000),3));y=np.sqrt((x*x).sum(1));tot+=np.median(y)
    del x
    with open("trace","a") as h: h.write("%d %f\n"%(i,tot)*200)
    time.sleep(0.14*f*(1+0.08*r.standard_normal())*1.0)
    L.append("%f%s"%(time.monotonic()-t," warm-up"*(f>1.05)))
open("truth","w").write("\n".join(L)+"\n")
"""
SOURCES["workers.js"] = r"""
const {Worker,isMainThread,parentPort}=require('worker_threads');const fs=require('fs'),crypto=require('crypto');
if(!isMainThread){parentPort.on('message',n=>{let h=Buffer.alloc(64);for(let i=0;i<n;i++)h=crypto.createHash('sha512').update(h).digest();parentPort.postMessage(h);});}
else{let seed=21;const rnd=()=>(seed=(seed*1103515245+12345)%2147483648)/2147483648;const ws=[new Worker(__filename),new Worker(__filename)];let L=[],n=0;
 function step(){const t=process.hrtime.bigint();let left=2;const done=()=>{if(--left)return;setTimeout(()=>{if(n%6==5)fs.writeFileSync('ck',Buffer.alloc(30000000,n));L.push(Number(process.hrtime.bigint()-t)/1e9+(n%6==5?' checkpoint':''));if(++n<50)step();else{fs.writeFileSync('truth',L.join('\n')+'\n');process.exit(0);}},330+40*rnd());};
  for(const w of ws){w.once('message',done);w.postMessage(60000+Math.floor(12000*rnd()));}}
 setTimeout(step,500);}
"""
SOURCES["sums.sh"] = r"""
RANDOM=12; date +%s.%N >times
for i in $(seq 14); do
  find /usr/include /usr/lib/gcc -type f -print0 2>/dev/null | head -z -n $((900+RANDOM%200)) | xargs -0 -n 60 md5sum >>sums 2>/dev/null
  tail -n 3 sums >/dev/null; sleep 1.$((RANDOM%30+10)); date +%s.%N >>times
done
awk 'NR > 1 { printf "%.6f\n", $1 - last } { last = $1 }' times >truth
"""
SOURCES["halves.c"] = r"""
#include "clock.h"
#include <omp.h>
static float m[700][700],n[700][700],o[700][700];
static void mult(float(*c)[700],float(*a)[700],float(*b)[700],int rows){
#pragma omp parallel for schedule(dynamic,10)
 for(int i=0;i<rows;i++){for(int j=0;j<700;j++)c[i][j]=0;for(int k=0;k<700;k++)for(int j=0;j<700;j++)c[i][j]+=a[i][k]*b[k][j]*1e-3f;}}
int main(void){srand48(13);for(int i=0;i<700;i++)for(int j=0;j<700;j++)m[i][j]=n[i][j]=(float)uni();
 for(int s=0;s<32;s++){double t=now();int r=650+(int)(40*uni());for(int k=0;k<4;k++)mult(o,m,n,r);pausefor(0.12+0.02*uni());for(int k=0;k<4;k++)mult(m,o,n,r);for(int i=0;i<700;i++)for(int j=0;j<700;j++)m[i][j]=(float)i/700;pausefor(0.3+0.03*gauss());note(now()-t,0);}
 truth();}
"""
SOURCES["halo.c"] = r"""
#include <mpi.h>
#include "clock.h"
int main(int c,char**v){MPI_Init(&c,&v);int me;MPI_Comm_rank(MPI_COMM_WORLD,&me);srand48(14+me);static double x[4096],y[4096];
 for(int s=0;s<90;s++){double t=now();for(int k=0;k<6;k++){double e=cpu()+0.03*(me?0.7:1)*(1+0.1*gauss());while(cpu()<e)for(int i=0;i<4096;i++)x[i]=x[i]*0.99+i;
   MPI_Sendrecv(x,4096,MPI_DOUBLE,1-me,0,y,4096,MPI_DOUBLE,1-me,0,MPI_COMM_WORLD,MPI_STATUS_IGNORE);}
  double z;MPI_Allreduce(x,&z,1,MPI_DOUBLE,MPI_MAX,MPI_COMM_WORLD);
  if(!me){FILE*f=fopen("energy","a");fprintf(f,"%d %g\n",s,z);fclose(f);}
  pausefor(0.1*(1+0.1*uni()));MPI_Barrier(MPI_COMM_WORLD);note(now()-t,0);}
 if(!me)truth();MPI_Finalize();}
"""
SOURCES["archive.go"] = r"""
package main
import ("compress/gzip";"fmt";"math/rand";"os";"time")
func main(){r:=rand.New(rand.NewSource(15));var L []float64;b:=make([]byte,12<<20);r.Read(b)
 for s:=0;s<20;s++{t:=time.Now();j:=1+0.2*(2*r.Float64()-1);f,_:=os.Create("out.gz");z:=gzip.NewWriter(f);z.Write(b[:int(j*float64(9<<20))]);z.Close();f.Close()
  time.Sleep(time.Duration(1.4*j*1e9));L=append(L,time.Since(t).Seconds())}
 f,_:=os.Create("truth");for _,l:=range L{fmt.Fprintf(f,"%f\n",l)};f.Close()}
"""
SOURCES["tables.py"] = r"""
import sqlite3,time,random,csv,json,os
r=random.Random(16);A=[];B=[];db=sqlite3.connect("d.db");db.execute("create table t(a int,b real,c text)")
for i in range(30):
    t=time.monotonic();db.executemany("insert into t values(?,?,?)",[(k,r.random(),"x"*40) for k in range(25000)]);db.commit();time.sleep(0.3*(1+0.1*r.uniform(-1,1)));A.append(time.monotonic()-t)
rows=[[k,r.random(),"name%d"%k] for k in range(200000)]
for i in range(12):
    t=time.monotonic()
    with open("o.csv","w") as f: csv.writer(f).writerows(rows)
    with open("o.csv") as f: s=sum(float(x[1]) for x in csv.reader(f))
    json.dumps(rows);time.sleep(0.9*(1+0.1*r.uniform(-1,1)));B.append(time.monotonic()-t)
open("truth","w").write("\n".join(map(str,A))+"\n");open("truth2","w").write("\n".join(map(str,B))+"\n")
"""
SOURCES["trees.go"] = r"""
package main
import ("math/rand";"time")
type node struct{l,r *node;b []byte}
func tree(d int,r *rand.Rand)*node{if d==0||r.Float64()<0.08{return &node{b:make([]byte,r.Intn(400))}};return &node{tree(d-1,r),tree(d-1,r),nil}}
func main(){r:=rand.New(rand.NewSource(31));var keep []*node;end:=time.Now().Add(26*time.Second)
 for time.Now().Before(end){n:=tree(8+r.Intn(9),r);if r.Float64()<0.3{keep=append(keep,n)};if len(keep)>0&&r.Float64()<0.27{i:=r.Intn(len(keep));keep[i]=keep[len(keep)-1];keep=keep[:len(keep)-1]};if r.Float64()<0.1{time.Sleep(time.Duration(r.ExpFloat64()*6e7))}}}
"""
SOURCES["requests.py"] = r"""
import http.server,threading,urllib.request,random,time,hashlib
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        n=int(self.path[1:]);h=hashlib.sha256()
        for i in range(n): h.update(b"%d"%i)
        b=h.hexdigest().encode()*50;self.send_response(200);self.send_header("Content-Length",str(len(b)));self.end_headers();self.wfile.write(b)
    def log_message(self,*a): open("access.log","a").write(str(time.time())+"\n")
s=http.server.ThreadingHTTPServer(("127.0.0.1",0),H);threading.Thread(target=s.serve_forever,daemon=True).start()
r=random.Random(32);e=time.monotonic()+26;ts=[]
def get(n): urllib.request.urlopen("http://127.0.0.1:%d/%d"%(s.server_port,n)).read()
while time.monotonic()<e:
    time.sleep(r.expovariate(6));t=threading.Thread(target=get,args=(int(r.expovariate(1/40000)),));t.start();ts.append(t)
for t in ts: t.join()
"""
SOURCES["configure.sh"] = r"""
RANDOM=33
t() { printf '%s\nint main(void){return 0;}\n' "$1" >c.c; if gcc $2 c.c -o c $3 2>>config.log; then ./c; echo yes >>config.h; fi; }
for i in $(seq 45); do
 case $((RANDOM%9)) in
 0) t '#include <stdio.h>' -O2;; 1) t '#include <math.h>
 double f(double x){return sin(x)+cos(x);}' '' -lm;; 2) t '#include <no_such.h>';; 3) t '#include <pthread.h>' -pthread;; 4) g++ -x c++ -O2 -include regex -include iostream -c /dev/null -o x.o 2>>config.log;; 5) g++ -x c++ -include vector -include map -c /dev/null -o x.o;; 6) python3 -c 'import json, decimal, asyncio' ;; 7) sed -n '/a/p' /usr/share/dict/words config.log >l 2>/dev/null; for k in $(seq $((RANDOM%300))); do expr $k + 1 >/dev/null; done;; 8) t 'int f(int);' -g;; esac
 n=0; while [ $n -lt $((RANDOM%20000)) ]; do n=$((n+1)); done
done
"""
SOURCES["tasks.c"] = r"""
#include "clock.h"
#include <pthread.h>
static pthread_mutex_t mu=PTHREAD_MUTEX_INITIALIZER;static double end;
static int cmp(const void*a,const void*b){return *(const int*)a>*(const int*)b?1:-(*(const int*)a<*(const int*)b);}
static void*work(void*x){(void)x;for(;;){pthread_mutex_lock(&mu);int n=(int)exp(11+1.4*gauss());double z=-0.15*log(1-uni());int sleepy=uni()<0.4;pthread_mutex_unlock(&mu);if(now()>end)return 0;if(n>6000000)n=6000000;int*v=malloc(sizeof(int)*(size_t)(n+1));for(int i=0;i<n;i++)v[i]=rand();qsort(v,(size_t)n,sizeof(int),cmp);if(n>300000){FILE*f=fopen("sorted","w");fwrite(v,4,(size_t)n,f);fclose(f);}free(v);if(sleepy)pausefor(z);}}
int main(void){srand48(34);end=now()+26;pthread_t t[3];for(int i=0;i<3;i++)pthread_create(&t[i],0,work,0);for(int i=0;i<3;i++)pthread_join(t[i],0);return 0;}
"""


def command(name, sources):
    """What runs it, built first if it must be. None: what it takes is not here."""
    stem, ending = name.split(".")
    path, program = f"{sources}/{name}", f"{sources}/{stem}"
    with open(path, "w", encoding="utf-8") as f:
        f.write(SOURCES[name])
    if ending in ("py", "js", "sh"):
        python = os.environ.get("STEPS_PYTHON", sys.executable)
        return [{"py": python, "js": "node", "sh": "bash"}[ending], path]
    mpi = "mpi.h" in SOURCES[name]
    build = ["go", "build", "-o", program, path] if ending == "go" else ["mpicc" if mpi else "cc", "-O2", "-g", "-fopenmp", "-pthread", "-o", program, path, "-lm"]
    if not shutil.which(build[0]):
        return None
    subprocess.run(build, check=True, stderr=subprocess.DEVNULL)
    return (MPIRUN if mpi else []) + [program]


def record(folder, interval, words):
    if words and not os.path.exists(f"{folder}/rec"):
        os.makedirs(folder)
        subprocess.run([SONDE, "run", "-q", "--no-history", "-i", interval, "-o", "rec", "--", *words], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def run(half, scratch):
    jobs = {"open": OPEN, "kept": KEPT}[half]
    os.makedirs(f"{scratch}/sources", exist_ok=True)
    with open(f"{scratch}/sources/clock.h", "w", encoding="utf-8") as f:
        f.write(SOURCES["clock.h"])
    words = [command(name, f"{scratch}/sources") for name, _, _ in jobs]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda x: record(f"{scratch}/{x[0][0]}.run", x[0][1], x[1]), zip(jobs, words)))
    print_tally(x for (name, _, _), there in zip(jobs, words) if there for x in judge(f"{scratch}/{name}.run", name))


main(run)
