"""Prints random queries over the tables of a lake, one a line: sql_generate.py SEED NUMBER."""

import random
import sys

T={
 'filings':dict(business_id='i',name='t',entity_type='t',status='t',filed_date='D',dissolved_date='D',city='t',zip='t',county='t',industry_sector='t',listed='b',filed_month='t',changed_at='T',company_type='t'),
 'changes':dict(observed_on='D',business_id='i',change='t',field='t',old='t',new='t'),
 'days':dict(filed_date='D',filed_month='t',days_ago='i',weekday='i',holiday='t',filings='i',expected='i',complete='b',settled='b',fullness='d'),
 'officers':dict(business_id='i',position='i',name='t',title='t'),
 'counties':dict(county='t',county_key='t',filings_last_30_days='i'),
 'county_facts':dict(county='t',county_key='t',population='i',land_area_sq_mi='d',region='t'),
 'agg_county_type_month':dict(filed_month='t',county='t',entity_type='t',filings='i',previous_month_filings='i',month_over_month='d',share_of_state='d',rank_in_state='i',complete='b'),
 'agg_county_window':dict(county='t',filings='i',growth='d',is_reliable='b',as_of='D',rank_in_state='i'),
 'businesses':dict(business_id='i',name='t',entity_type='t',filed_date='D',filed_month='D',county='t',entity_type_label='t',industry_sector='t',zip='t',dissolved_date='D'),
 'changes_detail':dict(observed_on='D',change='t',field='t',name='t',county='t',filed_date='D',listed='b',business_id='i'),
}
WORDS=['Duval','Orange','llc','corporation','2026-11','SUN','A','','appeared','status','Miami-Dade','trust',"O'Neil",'32']
class G:
    def __init__(s,r): s.r=r; s.depth=0
    def ch(s,*a): return s.r.choice(a)
    def p(s,x): return s.r.random()<x
    def lit(s,k):
        r=s.r
        if s.p(.05): return 'NULL'
        if k=='i': return str(r.choice([0,1,2,3,7,10,30,100,-1,-3,1000]))
        if k=='n': return r.choice(['0.5','1.5','2.25','-0.1','10.0'])
        if k=='d': return r.choice(['0.5','1.5e0','100e0','-2.5e0','0e0'])
        if k=='t': return "'"+r.choice(WORDS).replace("'","''")+"'"
        if k=='b': return r.choice(['TRUE','FALSE'])
        if k=='D': return f"DATE '2026-{r.randint(8,12):02}-{r.randint(1,28):02}'"
        if k=='T': return f"{s.ch('TIMESTAMP','TIMESTAMPTZ')} '2026-11-{r.randint(1,28):02} {r.randint(0,23):02}:00:00{s.ch('','','Z','-05','+05:30','-0500')}'"
    def col(s,sc,k):
        c=[n for n,t in sc if t==k]
        return s.r.choice(c) if c else None
    def e(s,sc,k,d=2):
        r=s.r
        if d<=0 or s.p(.25):
            c=s.col(sc,k)
            if c and s.p(.85): return c
            return s.lit(k)
        E=lambda kk: s.e(sc,kk,d-1)
        if k=='b':
            o=r.randint(0,16)
            if o<5:
                kk=s.ch('i','t','D','d','i','t','T'); op=s.ch('=','<>','<','<=','>','>=')
                if kk=='T' and s.p(.4): return f"({E(kk)} {op} '2026-11-{r.randint(1,28):02} 00:00:00{s.ch('','Z','-05:00','+05:30')}')"
                return f"({E(kk)} {op} {E(kk)})"
            if o==5: return f"({E('b')} AND {E('b')})"
            if o==6: return f"({E('b')} OR {E('b')})"
            if o==7: return f"(NOT {E('b')})"
            if o==8: return f"({E(s.ch('t','i','D','d'))} IS {s.ch('','NOT ')}NULL)"
            if o==9:
                kk=s.ch('i','t'); n=r.choice([1,3,15])
                return f"({E(kk)} {s.ch('','NOT ')}IN ({', '.join(s.lit(kk) for _ in range(n))}))"
            if o==10: kk=s.ch('i','D'); return f"({E(kk)} {s.ch('','NOT ')}BETWEEN {E(kk)} AND {E(kk)})"
            if o==11: return f"({E('t')} {s.ch('','NOT ')}{s.ch('LIKE','ILIKE')} {s.ch(chr(39)+'%a%'+chr(39),chr(39)+'S_%'+chr(39),chr(39)+'%'+chr(39),chr(39)+'Du%'+chr(39))})"
            if o==12: return f"({E('b')} IS {s.ch('','NOT ')}{s.ch('TRUE','FALSE')})"
            if o==13: kk=s.ch('i','t','D'); return f"({E(kk)} IS {s.ch('','NOT ')}DISTINCT FROM {E(kk)})"
            if o==14: return s.ch(f"contains({E('t')}, 'a')",f"starts_with({E('t')}, 'S')")
            if o==15: return s.case(sc,'b',d)
            return s.subq(sc) if s.depth<2 else E('b')
        if k=='i':
            o=r.randint(0,15)
            if o==0: return f"({E('i')} + {E('i')})"
            if o==1: return f"({E('i')} - {E('i')})"
            if o==2: return f"({s.lit('i')} * {E('i')})"
            if o==3: return f"({E('i')} % {s.ch('3','7','-4','10')})"
            if o==4: return f"({E('i')} // {s.ch('3','7','-4','10')})"
            if o==5: return f"length({E('t')})"
            if o==6: return f"{s.ch('year','month','day','quarter','week','dayofweek','isodow','dayofyear')}({E('D')})"
            if o==7: return f"({E('D')} - {E('D')})"
            if o==8: return f"abs({E('i')})"
            if o==9: return f"coalesce({E('i')}, {E('i')})"
            if o==10: return f"nullif({E('i')}, {E('i')})"
            if o==11: return s.case(sc,'i',d)
            if o==12: return f"strpos({E('t')}, {s.lit('t')})"
            if o==13: return f"date_diff('{s.ch('day','week','month','quarter','year')}', {E('D')}, {E('D')})"
            if o==14: return s.ch(f"CAST({E('b')} AS INTEGER)",f"TRY_CAST({E('t')} AS BIGINT)",f"greatest({E('i')}, {E('i')})",f"least({E('i')}, {E('i')})",f"extract({s.ch('year','month','dow','doy','week')} FROM {E('D')})",f"sign({E('i')})")
            return f"(- {E('i')})"
        if k=='d':
            o=r.randint(0,11)
            if o==0: return f"({E('i')} / {s.ch('3','7','2')})"
            if o==1: return f"({E('d')} + {E('i')})"
            if o==2: return f"({E('d')} * {E('d')})"
            if o==3: return f"round({E('d')}, {r.randint(0,3)})"
            if o==4: return f"coalesce({E('d')}, {E('i')})"
            if o==5: return s.case(sc,'d',d)
            if o==6: return f"({s.lit('n')} * {E('i')})"
            if o==7: return f"round({s.lit('n')} * {E('i')}{s.ch('',', 1')})"
            if o==8: return f"CAST({E('i')} AS DOUBLE)"
            if o==9: return f"({E('i')} + {s.lit('n')})"
            # Fractions that are added up in another order differ in their last bits: `floor` makes a difference of 1 of it.
            if o==10: return f"{s.ch('floor','ceil','abs')}({E('d')} + 0.00003)"
            return f"({E('d')} - {E('d')})"
        if k=='t':
            o=r.randint(0,13)
            if o==0: return f"upper({E('t')})"
            if o==1: return f"lower({E('t')})"
            if o==2: return f"substr({E('t')}, {r.randint(-3,4)}{s.ch('',', 2',', 0',', 5')})"
            if o==3: return f"({E('t')} || {E(s.ch('t','i','t'))})"
            if o==4: return f"coalesce({E('t')}, {E('t')})"
            if o==5: return s.case(sc,'t',d)
            if o==6: return s.ch(f"CAST({E(s.ch('i','D','b'))} AS VARCHAR)",f"CAST(nullif({E('i')}, {s.lit('n')}) AS VARCHAR)")
            if o==7: return f"left({E('t')}, {r.randint(-2,4)})"
            if o==8: return f"right({E('t')}, {r.randint(-2,4)})"
            if o==9: return f"trim({E('t')})"
            if o==10: return f"replace({E('t')}, 'a', 'b')"
            if o==11: return f"strftime({E('D')}, '{s.ch('%Y-%m','%b %d','%A')}')"
            if o==12: return f"concat({E('t')}, {E('i')}, {E('t')})"
            return f"split_part({E('t')}, ' ', {s.ch('1','2','-1')})"
        if k=='D':
            o=r.randint(0,6)
            if o==0: return f"({E('D')} + {r.randint(-40,40)})"
            if o==1: return s.case(sc,'D',d)
            if o==2: return f"coalesce({E('D')}, {E('D')})"
            if o==3: return f"CAST(date_trunc('{s.ch('month','week','year','quarter','day')}', {E('D')}) AS DATE)"
            if o==4: return f"CAST(({E('D')} {s.ch('+','-')} INTERVAL {s.ch('7 DAY',chr(39)+'1 month'+chr(39),chr(39)+'36 hours'+chr(39),'1 YEAR')}) AS DATE)"
            if o==5: return f"last_day({E('D')})"
            return f"greatest({E('D')}, {E('D')})"
        if k=='T':
            o=r.randint(0,4)
            if o==0: return f"CAST({E('D')} AS {s.ch('TIMESTAMP','TIMESTAMPTZ')})"
            if o==1: return f"date_trunc('{s.ch('day','month','hour')}', {E(s.ch('D','T'))})"
            if o==2: return f"({E(s.ch('D','T'))} {s.ch('+','-')} INTERVAL {s.ch('5 HOUR','1 MONTH')})"
            return s.col(sc,'T') or s.lit('T')
    def case(s,sc,k,d):
        n=s.r.randint(1,2)
        w=' '.join(f"WHEN {s.e(sc,'b',d-1)} THEN {s.e(sc,k,d-1)}" for _ in range(n))
        return f"CASE {w}{s.ch('',' ELSE '+s.e(sc,k,d-1))} END"
    def subq(s,sc):
        s.depth+=1
        try:
            t=s.ch('filings','changes','days','officers','counties','businesses','agg_county_window'); cols=[(n,k) for n,k in T[t].items()]
            o=s.r.randint(0,4)
            k=s.ch('i','t'); c=s.col(cols,k); mine=s.e(sc,s.ch('i','t','b','D') if s.p(.05) else k,1)
            w=f" WHERE {s.e(cols,'b',1)}" if s.p(.6) else ''
            if o==0: return f"({mine} {s.ch('','NOT ')}IN (SELECT {c} FROM {t}{w}))"
            if o==1: return f"({s.e(sc,'i',1)} {s.ch('>','<=','=')} (SELECT {s.ch('max','min','count')}({s.col(cols,'i') or '1'}) FROM {t}{w}))"
            if o==2: return f"({s.ch('','NOT ')}EXISTS (SELECT 1 FROM {t}{w}))"
            a=[(n,kk) for n,kk in sc if '.' in n]
            if not a: return f"({mine} IN (SELECT {c} FROM {t}{w}))"
            n,kk=s.r.choice(a); inner=[c for c,k2 in cols if k2==kk]
            if not inner: return f"({mine} IN (SELECT {c} FROM {t}{w}))"
            cond=f"z.{s.r.choice(inner)} = {n}"
            zc=[('z.'+n2,k2) for n2,k2 in cols]
            if s.p(.5): cond+=f" AND {s.e(zc,'b',1)}"
            return f"({s.ch('','NOT ')}EXISTS (SELECT 1 FROM {t} z WHERE {cond}))"
        finally: s.depth-=1
    def source(s):
        r=s.r
        o=r.random()
        t=r.choice(list(T))
        if o<.55:
            return (f"{t} a", [('a.'+n,k) for n,k in T[t].items()]) if s.p(.5) else (t,[(n,k) for n,k in T[t].items()])
        if o<.9:
            u=r.choice(list(T)); a=[('a.'+n,k) for n,k in T[t].items()]; b=[('b.'+n,k) for n,k in T[u].items()]
            join=s.ch('JOIN','LEFT JOIN','JOIN','LEFT JOIN','RIGHT JOIN','FULL JOIN','SEMI JOIN','ANTI JOIN')
            both=[(n,k) for n,k in T[t].items() if T[u].get(n)==k]
            pairs=[(x,y) for x,kx in a for y,ky in b if kx==ky and kx in 'tiD']
            on=[]
            keys=[(n,k) for n,k in both if k in 'tiD']
            if keys and s.p(.25):
                n,k=r.choice(keys)
                return (f"{t} a {join} {u} b USING ({n})",(a if join in('SEMI JOIN','ANTI JOIN') else a+b)+[(n,k)])
            if both and s.p(.75):
                n=r.choice(both)[0]; on.append(f"a.{n} = b.{n}")
            elif pairs: x,y=r.choice(pairs); on.append(f"{x} = {y}")
            else: on.append('TRUE')
            if s.p(.3): x,y=r.choice(pairs) if pairs else ('1','1'); on.append(f"{x} {s.ch('<','<>','>=','=')} {y}")
            if s.p(.2): on.append(s.e(r.choice([a,b]),'b',1))
            sc=a if join in('SEMI JOIN','ANTI JOIN') else a+b
            if s.p(.07) and join=='JOIN': return (f"{t} a, {u} b",sc) if False else (f"{t} a {join} {u} b ON {' AND '.join(on)}",sc)
            return (f"{t} a {join} {u} b ON {' AND '.join(on)}",sc)
        q,cols=s.select(inner=True)
        return (f"({q}) q",[('q.'+n,k) for n,k in cols])
    def agg(s,sc,d=1):
        k=s.ch('i','d','t','D','b')
        o=s.r.randint(0,12)
        f=f" FILTER (WHERE {s.e(sc,'b',1)})" if s.p(.12) else ''
        if o<2: return ('count(*)'+f,'i')
        if o==2: return (f"count({s.e(sc,k,d)})"+f,'i')
        if o==3: return (f"count(DISTINCT {s.e(sc,s.ch('i','t','D'),d)})"+f,'i')
        if o<6: kk=s.ch('i','d'); return (f"sum({s.e(sc,kk,d)})"+f,'i' if kk=='i' else 'd')
        if o==6: return (f"avg({s.e(sc,s.ch('i','d'),d)})"+f,'d')
        if o<10: kk=s.ch('i','t','D','d','b'); return (f"{s.ch('min','max')}({s.e(sc,kk,d)})"+f,kk)
        if o==10: return (f"{s.ch('stddev','median','var_pop','stddev_pop','variance')}({s.e(sc,s.ch('i','d'),d)})"+f,'d')
        if o==11: return (f"{s.ch('bool_and','bool_or')}({s.e(sc,'b',d)})"+f,'b')
        return (f"count_if({s.e(sc,'b',d)})",'i')
    def win(s,sc,allcols):
        part=[c for c,k in sc if k in 'tbD']
        pb=f"PARTITION BY {', '.join(s.r.sample(part,min(len(part),s.r.randint(1,2))))}" if part and s.p(.7) else ''
        oc=[c for c,k in sc if k in 'iDt']
        if s.p(.3) or not oc:
            a,k=s.agg(sc,1)
            if 'DISTINCT' in a: a,k='count(*)','i'
            return f"{a} OVER ({pb})",k
        peers=f"ORDER BY {s.r.choice(oc)}{s.ch('',' DESC',' NULLS FIRST',' DESC NULLS FIRST')}"
        o=s.r.randint(0,7)
        if o<2: return f"{s.ch('rank','dense_rank')}() OVER ({pb} {peers})",'i'
        if o==2: return f"{s.ch('percent_rank','cume_dist')}() OVER ({pb} {peers})",'d'
        if o<5:
            a,k=s.agg(sc,1)
            if 'DISTINCT' in a: a,k='count(*)','i'
            return f"{a} OVER ({pb} {peers})",k
        total="ORDER BY "+', '.join(allcols)
        a,k=s.agg(sc,1)
        if 'DISTINCT' in a: a,k='count(*)','i'
        fr=s.ch('ROWS BETWEEN 2 PRECEDING AND CURRENT ROW','ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW','ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING','ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING')
        c=s.r.choice([c for c,_ in sc]); kk=dict(sc)[c]
        return s.ch((f"{a} OVER ({pb} {total} {fr})",k),(f"row_number() OVER ({pb} {total})",'i'),(f"lag({c}) OVER ({pb} {total})",kk),(f"lead({c}, 2) OVER ({pb} {total})",kk),(f"first_value({c}) OVER ({pb} {total})",kk),(f"last_value({c}) OVER ({pb} {total})",kk),(f"ntile(4) OVER ({pb} {total})",'i'))
    def select(s,inner=False):
        r=s.r; src,sc=s.source()
        where=f" WHERE {s.e(sc,'b',2)}" if s.p(.6) else ''
        o=r.random(); tail=''
        if o<.42:
            nk=r.randint(0,2)
            keys=[(s.e(sc,k,1) if s.p(.4) else (s.col(sc,k) or s.e(sc,k,1)),k) for k in r.choices(['t','t','D','b','i'],k=nk)]
            keys=[(x,k) for x,k in keys if any(c in x for c,_ in sc)]
            aggs=[s.agg(sc) for _ in range(r.randint(1,3))]
            items=keys+aggs
            gb=''
            if keys: gb=' GROUP BY '+s.ch(', '.join(x for x,_ in keys), ', '.join(str(i+1) for i in range(len(keys))),'ALL')
            hv=f" HAVING {s.agg(sc)[0]} IS NOT NULL" if s.p(.1) else (f" HAVING count(*) > {r.randint(0,3)}" if keys and s.p(.2) else '')
            tail=gb+hv; dist=''
        else:
            dist='DISTINCT ' if s.p(.15) else ''
            ks=r.choices(['t','i','D','b','d'],k=r.randint(1,4))
            items=[(s.e(sc,k,2),k) for k in ks]
            if o>.75 and not dist:
                items=items+[s.win(sc,[c for c,_ in sc])]
        named=[(f"{x} AS x{i}",f"x{i}",k) for i,(x,k) in enumerate(items)]
        q=f"SELECT {dist}{', '.join(x for x,_,_ in named)} FROM {src}{where}{tail}"
        return q,[(n,k) for _,n,k in named]
    def shadowed(s):
        t=s.ch('filings','days','counties','agg_county_window'); c=s.col(list(T[t].items()),'i')
        order=s.ch(c,f'({c})',f'{c} + 0',f'{t}.{c}',f'rank() OVER (ORDER BY {c})')
        return f"SELECT (- {c}) AS {c} FROM {t} ORDER BY {order}{s.ch('',' DESC')} LIMIT {s.ch(1,5,50)}"
    def query(s):
        r=s.r; o=r.random()
        if s.p(.03): return s.shadowed(),False
        if o<.12:
            n=r.choice(list(T)+['one','filings','days']); q,cols=s.select()
            T2=dict(T)
            cte=f"WITH {n} AS ({q}) "
            old=T.get(n); T[n]=dict(cols)
            try:
                sc=list(cols); w=f" WHERE {s.e(sc,'b',2)}" if s.p(.5) else ''
                body=f"SELECT {', '.join(f'{s.e(sc,k,1)} AS y{i}' for i,(_,k) in enumerate(cols))} FROM {n}{w}"
            finally:
                if old is None: del T[n]
                else: T[n]=old
            return cte+body,False
        if o<.27:
            ks=r.choices(['t','i','D','b'],k=r.randint(1,2)); parts=[]
            for _ in range(r.choice([2,2,3])):
                src,sc=s.source()
                parts.append(f"SELECT {', '.join(f'{s.e(sc,k,1)} AS x{i}' for i,k in enumerate(ks))} FROM {src}{' WHERE '+s.e(sc,'b',1) if s.p(.5) else ''}")
            q=parts[0]
            for p in parts[1:]: q+=f" {s.ch('UNION','UNION ALL','INTERSECT','EXCEPT','INTERSECT ALL','EXCEPT ALL')} {p}"
            return q,False
        q,cols=s.select()
        if s.p(.35):
            order=', '.join(f"{c}{s.ch('',' DESC',' NULLS FIRST')}" for c,_ in cols)
            q+=f" ORDER BY {order}"
            if s.p(.5): q+=f" LIMIT {r.choice([0,1,5,50])}{s.ch('',' OFFSET 2')}"
            return q,True
        return q,False
seed, number = int(sys.argv[1]), int(sys.argv[2])
dice = random.Random(seed)
for _ in range(number):
    print(G(dice).query()[0].replace("\n", " "))
