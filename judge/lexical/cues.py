"""Cues: English turns of phrase that tell who speaks and whether a turn leans on the answer.

They are a floor, not a grammar: a turn in another language carries none of them.
"""

import re

_FLAGS = re.IGNORECASE | re.MULTILINE


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), _FLAGS)


# Words of a reply that is only social; a turn made of these alone says nothing about any answer.
SOCIAL_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a all alright amazing and appreciate appreciated are awesome bye cheers cool day
        clear did excellent fantastic fine for get glad good goodbye got great had happy
        hello help helped helpful helps hey hi have i in indeed interesting is it its just
        job know later lot lots love lovely makes makin many me more much my nice no now of
        oh ok okay one other others perfect please pretty questions question really right
        see sense so sounds super sure ta thank thanks thankyou that thats the think this
        time to true truly understand understood useful very was welcome well wonderful work
        works wow yeah yep yes you your answer explanation response information info any
        else everything nothing later soon tomorrow""",
    )
)
# A wish or question in social words ("is it true?", "no, more") is no social reply.
SOCIAL_START = _any(
    r"^\W*(?:thank|thanks|thx|ta\b|cheers|ok\b|okay|great|cool|nice|perfect|awesome|wonderful|"
    r"amazing|excellent|fantastic|good|bye|goodbye|hello|hi\b|hey\b|yes\b|yeah|yep|no\b|sure|"
    r"alright|fine\b|got it|i see|i understand|understood|wow|oh\b|ah\b|right\b|that(?:'s| is)|"
    r"this (?:is|was)|interesting|sounds|makes sense|very|so (?:helpful|good|nice)|lovely|i love|"
    r"i appreciate|much appreciated|see you|have a|you(?:'re| are) (?:great|amazing|right|welcome))"
)
PUSH = _any(
    r"^\W*(?:go on|continue|keep going|carry on|more|next|why|how so|how come|really|"
    r"are you sure|is that (?:right|true|all)|what|huh|and|so|then what)\W*$"
)

# The assistant's voice: at the start of a turn, or a handover inside it.
ASSISTANT_START = _any(
    r"\A\W*(?:sure|certainly|of course|absolutely|great question|no problem|happy to)\b[,!.:]"
    r"(?! (?:but|can|could|what|why|how|thanks|thank))",
    r"\A\W*(?:here(?:'s| is| are) (?:a|an|the|some|another|your|my|how|what)\b)",
    r"\A\W*(?:i(?:'m| am) (?:glad|happy|sorry,? but|here to|an ai|just an ai|a language model)|"
    r"i(?:'d| would) be (?:happy|glad)|i hope (?:this|that|these)|i apologi[sz]e|"
    r"as an ai|you(?:'re| are) welcome|my pleasure|glad (?:i|to) )",
    r"\A\W*(?:step \d+\s*[:.)]|to (?:solve|find|calculate|determine|answer|do) (?:this|the)\b|"
    r"we (?:need|have|can|are given|know|first)\b|let's (?:break|solve|start|calculate|find|see|"
    r"think|first|denote|go through)\b|let (?:x|n)\b|"
    r"let me (?:explain|help|break|solve|clarify|know if)\b|"
    r"first(?:ly)?,? (?:we|let's|you)\b|therefore\b|the (?:final |correct )?answer is\b|"
    r"the user (?:wants|may|might|is|asks|asked|says|said|has)\b|okay, (?:so|let's|let me|the)\b)",
    r"\A\W*(?:assistant|answer|solution|explanation|response)\s*:",
)
ASSISTANT_OFFER = _any(
    r"\b(?:let me know if|feel free to|don't hesitate to|i hope (?:this|that) helps|"
    r"would you like me to|do you (?:want|need) me to|is there anything else (?:i|you)|"
    r"how (?:can|may) i (?:help|assist)|happy to help|i can help you|if you (?:have any|need)"
    r"(?: more| other| further)?(?: questions| help| assistance))\b"
)
# "…second step?assistant\n\nOf course!": the role word glued to the last one or on its own line,
# then more text. With nothing after it, it is a leftover mark.
HANDOVER = re.compile(
    r"(?:(?<=[\w.!?)\"'])assistant\b|^\W*assistant\W*$|^\s*(?:assistant|ai|bot)\s*:)[\s:]*\S",
    re.MULTILINE | re.IGNORECASE,
)
LEFTOVER_ROLE = re.compile(
    r"\A\s*(?:user|human)\s*:\s*|(?<=[\w.!?)\"'])assistant\s*\Z|^\W*assistant\W*\Z",
    re.MULTILINE | re.IGNORECASE,
)
NUMBER = re.compile(r"\d+")
EXAM = _any(
    r"\A\W*(?:question|problem|exercise|task|prompt|instruction|input|q)\s*\d*\s*[:.]",
    r"\A\W*#+\s*(?:question|problem|task|instruction)",
    r"\A\W*(?:passage|context|given the following|read the following|solve the following|"
    r"answer the following)\b",
)
EXAM_WORKED = _any(r"^\W*(?:answer|solution|explanation|a)\s*:\s*(?P<worked>\S.*)$")
REQUEST = _any(
    r"(?:\A|[.!?,:;]\s+|\n\s*)\W*(?:(?:please|now|so|then|well,?|also,?|let's|can you|could you|"
    r"would you|i want you to|i need you to|i(?:'d| would) like (?:you )?to|help me) )*"
    r"(?:write|create|give|tell|explain|describe|list|generate|make|find|calculate|compute|solve|"
    r"provide|suggest|recommend|summari[sz]e|translate|compare|design|build|implement|develop|draft|compose|"
    r"add|show|name|imagine|pretend|act|discuss|analy[sz]e|identify|prove|determine|rewrite|"
    r"convert|classify|convince|teach|plan|propose|say|define|modify|paraphrase|leave|come up|"
    r"dive|do the|replace|remove|change|try|go with|start)\b",
    r"\b(?:please|pls)\b",
)
QUESTION = _any(
    r"\?(?:\W|$)",
    r"\A\W*(?:who|what|when|where|why|how|which|is|are|do|does|did|"
    r"can|could|should|would|will|was|were|has|have)\b",
)

# Leaning on the answer.
POINTS_BACK = _any(
    r"\b(?:you (?:said|say|mention(?:ed)?|wrote|gave|listed|forgot|"
    r"suggest(?:ed)?|missed|used|made|just|mean|did|didn't|got|explained|describe[d]?|provided?)\b)",
    r"\bthe (?:above|previous|first|second|third|fourth|latter|former) (?:one|two|step|part|point|"
    r"line|sentence|paragraph|option|example|word|method|idea|answer|stanza|verse|item|section|"
    r"suggestion)\b|\b(?:step|point|option) (?:\d+|[a-e])\b|\bthe same\b|\binstead\b",
    r"\A\W*(?:and|but|or|so|then)\b.*\?",
)
PRONOUN = _any(
    r"\b(?:your|this|these|those|it|its|they|their|them|he|she|her|his|again|else|additional|"
    r"further|as well|any other|some other|are there other|larger|smaller|bigger|better)\b",
    # "that" alone points; in "a number that is even" it does not.
    r"\b(?:is|was|does|did|do|of|about|for|to|on|with|after|if|but|explain|change|make|why|how|"
    r"like|from|than) that\b|\A\W*that\b|\bthat(?:'s)?\W*$|\bthat \w+\?",
)
CORRECTION = _any(
    r"\A\W*(?:no\b[,.!]?|nope|but\b|actually|wait|hmm|wrong|incorrect|not (?:quite|really|what)|"
    r"however|are you sure|really\?|i (?:get|got|think|thought|don't|do not|disagree|doubt|meant|"
    r"asked|still|believe)|isn't|aren't|doesn't|shouldn't|why not|that(?:'s| is)(?: not|n't)|"
    r"(?:well,? |but )?you (?:did|didn't|did not|are not|aren't|forgot|missed|keep|suck|haven't))",
    r"\b(?:mistake|incorrect|doesn't (?:work|make sense|look|seem)|not (?:right|true|correct)|"
    r"you(?:'re| are) wrong|i don't (?:understand|get|think)|makes no sense|confus\w+)\b",
)
CHANGE = _any(
    r"\b(?:shorter|longer|simpler|more (?:detail\w*|formal|specific|concise|examples?|about|on|"
    r"info\w*|of)|less (?!than)\w+|another (?:one|example|way|version)|an? (?:example|alternative)|"
    r"in (?:simpler|other|more|fewer|plain|simple) \w+|rewrite|rephrase|reword|revise|elaborate|"
    r"expand|clarify|continue|go on|keep going|make it|make them|turn (?:it|this|that) into|"
    r"change|replace|remove|translate (?:it|this|that)|add (?:a|an|some|more|another)|"
    r"cut (?:it|this|that)|fix|too (?:long|short|hard|formal|vague|complicated)|can you also|"
    r"also,|now (?:for|do|make|add|with|in|write|give|the|try|explain|can)|"
    r"what (?:about|if|else)|how about|what do you mean|"
    r"how (?:do|did|does|would|could|can) (?:you|i|that|this|it|we)|why (?:do|did|is|are|does|"
    r"would|not|don't))\b",
)
ASSISTANT_ASKED = re.compile(r"\?[\s\"')*_]*\Z")
POLITE_CLOSE = _any(
    r"(?:anything else|any (?:other |more |further )?questions|(?:can|may) i (?:help|assist)|"
    r"let me know)[^?]*\?[\s\"')*_]*\Z"
)
