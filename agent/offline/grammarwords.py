"""The words that hold a request together, by what they do. One kind a line: `kind name: phrases`."""

_TABLE = """
sep list: and|or|vs|versus|vs.|n|,|、|/|&|和|与|或|以及|及|跟|还有|或者|还是|and/or|,and|,or|, and|, or|plus|+|as well as|against|compared to|compared with|in contrast to|rather than|instead of|,和|,以及|,与|对比|then
sep bar: |
to to: to|through|thru|until|up to|down to|upto|->|=>|→|..|...|~|–|—|--|到|至|降到|升到|一直到|all the way to|all the way down to|up through|going to|降至|增加到
from from: from|between|从|由|ranging from|range from|介于|ranging between|anywhere from|starting from|starting at|在区间
span end: 之间|范围内|区间内|范围
cross x: x|×|*|by|crossed with|cross
join is: of|is|are|=|:|==|as|being|at|set to|with values|values of|value of|values|value|equal to|equals|ranging|over|among|in|∈|in the range|in range|within the range|in the set|from the set|from the list|should be|either|like|try|both|levels|options|:=|设为|设置为|设成|设定为|设置成|改成|改为|换成|调成|调到|调整为|为|是|取|用|选|试|测试|试试|分别|分别为|分别是|分别取|分别用|各|扫|搜索|扫描|遍历|使用|采用|sweep|swept|varied|varying|vary|e.g.|i.e.|be|取值|取值为|的值为|值|的取值|等于|固定为|固定在|fixed at|fixed to|held at|kept at|的范围是|的范围|范围是|范围为|the range|range|candidates|候选|可选|默认|such as|equal|cells|would be|越|用了|a|an|the|settings|choices|steps of|在|不同|of either|of both|sweeping|scaling|scan|scanning|log-uniformly|log uniformly|log-uniform|loguniform|uniform|固定|fixed|只用|就用|统一用|统一为
step step: step|steps of|in steps of|with step|with steps of|step size of|in increments of|increments of|increment|with a step of|with step size|stride|every|步长|步长为|步长是|以步长|间隔|间隔为|每隔|by steps of|at intervals of|in step of
points points: values|points|levels|samples|个值|个点|档|settings|grid points|个取值|个数值|evenly spaced values|evenly spaced points|log spaced values|log-spaced values|log spaced points|logarithmically spaced values|logspaced values|linearly spaced values|equally spaced values|evenly-spaced values|steps on a log scale|values on a log scale|points on a log scale|values in log space|logspace values|geometric steps|values log spaced|values log-spaced|values in between|log spaced steps|log-spaced steps|evenly spaced steps|log steps|values log scale|log scale values|points log scale|log-scaled values|log-spaced points|values (log scale)
spacing log: log spaced|logspaced|on a log scale|log scale|in log space|logarithmically|logarithmic|log-scale|对数|按对数|geometric
spacing doubling: powers of 2|powers of two|in powers of two|in powers of 2|doubling|doubling each time|doubled each time|by doubling|each time doubling|翻倍|每次翻倍|2的幂|2的幂次|factors of 2|by factors of 2|by factors of two|in factors of 2
spacing decades: powers of 10|powers of ten|by factors of 10|factors of 10|decades|each decade|every decade|by decades|in decades|per decade|by a factor of 10|十倍|每次十倍|数量级|按数量级|orders of magnitude|10倍
most most: at most|max|maximum|maximum of|max of|up to at most|no more than|not more than|under|within|below|less than|fewer than|limit|limited to|limit of|limit to|limit it to|cap|capped at|cap at|cap of|stay under|stay below|stay within|keep it under|keep under|<=|<|≤|最多|不超过|不要超过|以内|之内|上限|上限是|上限为|限制在|控制在|至多|budget|budget of|budget is|a budget of|with a budget of|total budget|预算|预算是|预算为|总预算|预算不超过|no longer than|not exceed|not exceeding|without exceeding|don't exceed|do not exceed|don't go over|spend|spending|up to a total of|maximal|maximally|maxes|only have|i have|we have|ceiling|ceiling of|不能超过|别超过|no greater than
within within: 内|以下|之下|tops|max.|or less|or fewer|or so|in total|total|altogether|封顶|为限
per per: per|each|every|per run|each run|for each run|for each|per experiment|per trial|per job|per model|per config|per cell|per setting|apiece|per task|每个实验|每个|每次|每次实验|每组|各跑|每个任务|每个run|每个作业|每个试验|单个实验|每轮实验|each one|for every run|a run|每组实验|每次运行|/run|/ run|a piece|per arm|per condition|per configuration|per combination|每种|每种配置|每个配置|每组参数|每组配置|每个模型
by by: by|before|until|due|due by|no later than|finish by|done by|finished by|in time for|之前|以前|前|截止|deadline|ready by|ready for
in in: in|in the next|within the next|within the
unit gpu_hours: gpu hours|gpu hour|gpu hrs|gpu hr|gpuh|gpu h|gpu hs|gpu小时|卡时|gpu时|卡小时|个gpu小时|个卡时|hours of gpu time|hours of gpu|hrs of gpu time|hours gpu|h gpu|hours of compute|h of gpu|hours on gpu|gpu time hours|card hours|device hours|accelerator hours|个gpu时|gpu·h|gpu*h|gpu*hours
unit gpu_days: gpu days|gpu day|gpud|gpu天|个gpu天|卡天|days of gpu time
unit gpu_weeks: gpu weeks|gpu week
unit hours: hours|hour|hrs|hr|h|小时|个小时|钟头|个钟头
unit days: days|day|d|天|日
unit weeks: weeks|week|wk|周|星期|个星期|礼拜|个礼拜
unit minutes: minutes|minute|mins|min|分钟
unit trials: trials|trial|evaluations|evals|evaluation|configs|configurations|samples|optuna trials|bayesian trials|random trials|search trials|hyperparameter configurations|次试验|次尝试|个试验|试验|组参数|组配置|组超参|组超参数|个配置|个trial|个trials|次trial|次采样|次搜索|次评估|draws|random samples|random configs|random configurations|次|个样本点|组实验|tries|attempts|iterations of bo|bo iterations|function evaluations|total trials|trials total
unit runs: runs|experiments|jobs|个实验|次实验|个任务|次运行|个运行|个run|total runs|runs total|training runs|runs in total|个runs
unit seeds: seeds|seed|random seeds|random seed|sedes|different seeds|different random seeds|independent seeds|distinct seeds|rng seeds|rng seed|种子|随机种子|个种子|个随机种子|个不同的随机种子|个不同种子|个不同的种子|个不同随机种子|组种子|组随机种子|个seed|个seeds|随机seed|num seeds|number of seeds|n seeds|种子数|种子数量|个随机seed|seeds each|次随机种子|种随机种子|随机数种子|random inits|random initializations|种种子|random states|random state
unit repeats: repeats|repeat|repetitions|replicates|replicas|replications|replicate|次重复|repetition|reps|restarts|遍|independent runs|independent trials|independent repeats|独立重复
unit times: times|次重复实验|倍
unit gpus: gpus|gpu|cards|graphics cards|个gpu|张gpu|块gpu|卡|张卡|块卡|张显卡|块显卡|显卡|块|张|个卡|gpu cards|accelerators|张gpu卡|块gpu卡|台gpu|num gpus|number of gpus|free gpus|gpu数|gpu数量
unit nodes: nodes|node|machines|servers|个节点|台机器|节点|台服务器|台节点|num nodes|hosts
unit cpus: cpus|cpu|cpu cores|cores|个cpu|核|个核|核cpu|cpu core|vcpus|cpu核
unit memory: gb|gib|g|gb ram|gb of ram|gb memory|gb of memory|gib ram|gb of host memory|g内存|gb内存|gib memory|gib of memory|gb host memory|g ram|gb of system memory|gb of cpu memory
unit memory_tb: tb|tib|tb ram|tb of ram
strategy bayesian: bayesian|bayesian optimization|bayesian optimisation|bayesian search|bayesian opt|bayes|bayes opt|bayesopt|bo|tpe|optuna|gp search|gaussian process|贝叶斯|贝叶斯优化|贝叶斯搜索|贝叶斯方法|贝叶斯调参|bayesian hyperparameter search|bayesian sweep|bayesian tuning|bayes search|用optuna|bayesian hyperparameter optimization
strategy adaptive: adaptive|adaptively|adaptive search|adaptive sweep|hyperband|asha|successive halving|bohb|sequential halving|自适应|自适应搜索|逐次减半|早停搜索|racing|prune bad runs early|early-stopping search|successive-halving|population based training|pbt
strategy random: random search|randomly sample|random sampling|randomly sampled|randomized search|random sweep|randomly search|随机搜索|随机采样|随机搜|sample randomly|randomly|random hyperparameter search
strategy grid: grid|grid search|gridsearch|full grid|full factorial|factorial|all combinations|every combination|all combos|every combo|cartesian product|full cross product|cross product|exhaustive|exhaustively|exhaustive search|网格|网格搜索|全组合|所有组合|网格扫描|全部组合|全因子|笛卡尔积|grid sweep|穷举|all pairs|factorial design|full factorial design
deadline 24: tomorrow|by tomorrow|tomorrow morning|by tomorrow morning|tomorrow noon|tomorrow evening|tomorrow night|by tomorrow night|by tomorrow evening|by this time tomorrow|明天|明天早上|明天上午|明天下午|明天晚上|明早|明晚|明天之前|明天前|tmrw|tmr|tomorow|tommorow|by tmrw|tomorrow afternoon
deadline 12: tonight|by tonight|overnight|today|by eod|eod|by end of day|by the end of the day|by end of today|end of day|by the end of today|by morning|by the morning|by today|今晚|今天|今晚之前|今天之内|今天内|今夜|一晚上|一个晚上|过夜|下班前|this evening|this afternoon|by this evening
deadline 48: the day after tomorrow|day after tomorrow|by the day after tomorrow|后天|后天之前
deadline 168: next week|by next week|end of next week|by the end of next week|by end of next week|下周|下星期
deadline 120: this week|by the end of the week|by end of week|end of the week|by the end of this week|end of week|by the weekend|before the weekend|by the end of this week|by eow|eow|本周|这周|这个星期|本周内|这周内|周末|周末前
deadline 720: this month|end of the month|by the end of the month|本月底|月底|月底前
weekday mon: monday|周一|星期一|礼拜一
weekday tue: tuesday|周二|星期二|礼拜二
weekday wed: wednesday|周三|星期三|礼拜三
weekday thu: thursday|周四|星期四|礼拜四
weekday fri: friday|周五|星期五|礼拜五
weekday sat: saturday|周六|星期六|礼拜六
weekday sun: sunday|周日|周天|星期日|星期天|礼拜天
neg not: without|no|w/o|not using|sans|not|没有|不用|不使用|去掉|去除|关闭|无|不加|禁用|不开|disable|disabling|disabled|turn off|turning off|without any|without using|移除|w/out|不带|不做|non|关掉
pos with: with|using|use|w/|w|enable|enabling|turn on|turning on|开启|使用|加上|加|打开|启用|保留|带|with the|做了|用上
switch pair: with and without|with or without|with/without|with vs without|with vs. without|with versus without|with & without|w/ and w/o|w/ or w/o|w/ vs w/o|w/ vs. w/o|w/w/o|w/&w/o|w and w/o|w/ / w/o|both with and without|without and with|w/o and w/|w/o vs w/|without vs with|enable/disable|enabling/disabling|enabling and disabling|enabled and disabled|有无|有和没有|有没有|有与没有|有或没有|是否使用|是否用|是否开启|是否加|是否启用|是否加入|是否采用|是否有|是否需要|是否|要不要|需不需要|用没用|应不应该用|该不该用|值不值得用|用不用|加不加|开不开|带不带|用与不用|用和不用|加与不加|加和不加|使用和不使用|使用与不使用|使用或不使用|开启和关闭|开启与关闭|打开和关闭|开和不开|开与不开|开或不开|带和不带|带与不带|with and then without|presence or absence of|presence and absence of|presence/absence of|有/无|with/without the|with-and-without|w/-w/o|whether or not to use|whether to use|whether we need|whether or not we use|开和关|开与关|开关|开/关|有和无|有与无|on/off
switch after: on and off|on or off|on/off|on vs off|on vs. off|on versus off|on,off|on, off|off and on|off/on|off vs on|off, on|on & off|on|off|true/false|true,false|true, false|true and false|true or false|true vs false|false/true|false,true|false, true|false and true|yes/no|yes,no|yes, no|yes and no|enabled/disabled|enabled and disabled|enabled or disabled|enabled vs disabled|enabled, disabled|disabled and enabled|disabled vs enabled|both on and off|either on or off|both ways|or not|开和关|开与关|开关|开/关|开、关|开启和关闭|开启与关闭|打开和关闭|开和不开|on和off|on与off|开启/关闭|是/否|true和false|的有无|的开关|的开和关|with and without|with or without|有和无|有与无|的开启和关闭|on and then off|关和开|both enabled and disabled|{true,false}|开或关|与否|on、off
"""

_ALONE_ON_OFF = ("on", "off")

_VERBS = """compare comparing compared comparison comparisons train training trained retrain run running runs try trying test
testing sweep sweeping tune tuning finetune finetuning fine-tune fine-tuning evaluate evaluating eval ablate ablating ablation
ablations benchmark benchmarking experiment experiments explore exploring search searching study studying pretrain pretraining
plan launch optimize optimise measure pit contrast investigate examine assess fit fitting bench validate
比较 对比 训练 微调 测试 试 试试 试一下 实验 评估 消融 搜索 调参 探索 研究 看看 跑 跑一下 跑个 扫 扫描 验证 测一下 测 做 扫一下 对比一下 比较一下 评测 预训练 调优 优化"""


def grammar_rows() -> list[tuple[str, str, list[str]]]:
    """Kind, name and phrases of every line."""
    rows: list[tuple[str, str, list[str]]] = []
    for line in _TABLE.strip().splitlines():
        head, _colon, rest = line.partition(": ")
        kind, name = head.split()
        phrases = ["|"] if name == "bar" else [phrase for phrase in rest.split("|") if phrase]
        rows.append((kind, name, [phrase for phrase in phrases if phrase not in _ALONE_ON_OFF]))
    rows.append(("verb", "verb", [*map(str, _VERBS.split())]))
    return rows
