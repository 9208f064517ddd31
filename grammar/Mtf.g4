// The grammar of .mtf. Operations are ordinary calls: a new one never touches this file.
//
// Between lexer and parser stands a filter (frontend/parse/mistakes/filter.cpp) that leaves the parser no
// choice to make beyond the next token: it puts SEP before every statement and drops the other line
// ends; a keyword keeps its type only where it is one, and is a NAME elsewhere; brackets arrive
// matched. Inside a string the lexer is not asked: frontend/parse/lex.cpp cuts out the TEXT.

grammar Mtf;

tokens { SEP, STRING_END, TEXT, EXPR_BEGIN, EXPR_END, FORMAT }

// --- Statements ----------------------------------------------------------------------------------

file : (SEP statement)* EOF ;

block : '{' (SEP statement)* '}' ;

statement
  : importModule | dims | mesh | layout | useLayout | function | binding | variable
  | forLoop | whileLoop | ifElse | leave | returnValues | print | assertion | minimize | checkpoint
  | withLayout | withPrecision | region | gradient | expectation | plain
  ;

importModule : IMPORT (name | string) (AS name)? ;

dims : DIM dimSize (',' dimSize)* ;
dimSize : name '=' expr ;

mesh : MESH name '=' '[' axis (',' axis)* ']' (OF name)? ;
axis : name ':' expr ;

layout : LAYOUT name (ON name)? (INFER | AUTO | UNEVEN)* layoutBody ;
layoutBody : '{' (SEP layoutItem? (',' layoutItem?)*)* '}' ;
layoutItem : ruleItem | PARAMS layoutBody | AT LET? string layoutBody ;
// Several dims may share what the last of them maps to: vocab, d_ff, heads -> y
// Of a layout also an option: gather = again, stream = 4
ruleItem
  : name ('->' (target | '(' (target (',' target)*)? ')') where? | '=' (name | INT))?
  ;
where : WHERE condition (AND condition)* ;
condition : coordinate ('==' coordinate)+ ;
coordinate : name | INT ;
target : name | '*' ;

useLayout : USE LAYOUT name ;
withLayout : WITH LAYOUT name block ;
// with precision bf16 { … }    with precision bf16, gradients = bf16 { … }
withPrecision : WITH PRECISION name (',' name '=' name)* block ;
region : RECOMPUTE block ;
gradient : GRADIENT name (',' name)* block ;

// expect { … }    expect under both { … }    expect train_step under [both, wide] { … }
// expect steps.train under both { … }
expectation : EXPECT named* ('[' name (',' name)* ']')? expectBody ;
named : name ('.' name)? ;
expectBody : '{' (SEP clause? (',' clause?)*)* '}' ;
clause : expr ('=' expr)? name? ;  // a comparison, then a unit

function : (FN | MODEL) name '(' (parameter (',' parameter)*)? ')' ('->' type (',' type)*)? block ;
parameter : name (':' type)? ('=' expr)? ;
type : name ('[' elements ']')? ;

binding : (LET | VAR | OPTION) name (',' name)* '=' expr ;
variable : (PARAM | STATE) name (':' type)? ('=' expr)? ;

forLoop : FOR name IN range (STEP expr)? (WHILE expr)? block ;
whileLoop : WHILE expr block ;
ifElse : IF expr block (ELSE (IF expr block | block))* ;
leave : BREAK | CONTINUE ;

returnValues : RETURN expressions? ;
print : PRINT expressions? ;
assertion : ASSERT expr (',' expr)? ;
// minimize loss with optim.sgd(lr = 0.1)    minimize loss with optim.sgd(lr = 0.1), params = net
minimize : MINIMIZE expr WITH expr (',' PARAMS '=' expr)? ;
// save "step_{n}.safetensors", keep = 3    restore "base.safetensors" as "encoder/*"
checkpoint : (SAVE | RESTORE) expr (AS expr)? (',' name '=' expr)* ;

// x = e    a, b = f(x)    w <- e    f(x)
plain : expressions (('=' | '<-') expr)? ;

expressions : expr (',' expr)* ;

// --- Expressions ---------------------------------------------------------------------------------

// Flat, so that a long chain is not a deep tree; parse_expr.cpp applies the precedence, from loose
// to tight: or, and, not, comparisons (one), + -, * / // %, unary -, ** (from the right).
expr
  : operand ((OR | AND | '==' | '!=' | '<' | '<=' | '>' | '>=' | '+' | '-' | '*' | '/' | '//' | '%'
             | '**') operand)*
  ;

operand
  : ('-' | NOT)* (NAME | INT | FLOAT | TRUE | FALSE | string | '[' elements ']' | '(' expr ')')
    suffix*
  ;

suffix
  : '(' arguments? ')' (AS string)?
  | '[' indexItem (',' indexItem)* ']'
  | '.' (name | string)
  | '@' '[' (pinItem (',' pinItem)*)? ']'
  ;

arguments : argument ('->' expr)? (',' argument ('->' expr)?)* ;
argument : expr ('=' expr)? ;

indexItem : range (':' range)? (AS name)? ;
range : expr ('..' expr)? ;

pinItem : ruleItem | '..' ;

elements : (element (',' element)*)? ;
element : expr (':' expr)? | '..' ;

string : STRING_BEGIN (TEXT | EXPR_BEGIN expr FORMAT? EXPR_END)* STRING_END ;

name : NAME ;

// --- Tokens --------------------------------------------------------------------------------------

IMPORT : 'import' ;
DIM : 'dim' ;
MESH : 'mesh' ;
LAYOUT : 'layout' ;
USE : 'use' ;
WITH : 'with' ;
RECOMPUTE : 'recompute' ;
GRADIENT : 'gradient' ;
EXPECT : 'expect' ;
FN : 'fn' ;
MODEL : 'model' ;
LET : 'let' ;
VAR : 'var' ;
OPTION : 'option' ;
PARAM : 'param' ;
STATE : 'state' ;
FOR : 'for' ;
WHILE : 'while' ;
IF : 'if' ;
ELSE : 'else' ;
RETURN : 'return' ;
PRINT : 'print' ;
ASSERT : 'assert' ;
MINIMIZE : 'minimize' ;
SAVE : 'save' ;
RESTORE : 'restore' ;
PARAMS : 'params' ;
AT : 'at' ;
BREAK : 'break' ;
CONTINUE : 'continue' ;
PRECISION : 'precision' ;

AS : 'as' ;
IN : 'in' ;
ON : 'on' ;
OF : 'of' ;
INFER : 'infer' ;
AUTO : 'auto' ;
UNEVEN : 'uneven' ;
WHERE : 'where' ;
STEP : 'step' ;

AND : 'and' ;
OR : 'or' ;
NOT : 'not' ;
TRUE : 'true' ;
FALSE : 'false' ;

EQUAL : '==' ;
NOT_EQUAL : '!=' ;
LESS : '<' ;
LESS_EQUAL : '<=' ;
GREATER : '>' ;
GREATER_EQUAL : '>=' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;
FLOOR : '//' ;
PERCENT : '%' ;
POWER : '**' ;
ARROW : '->' ;
UPDATE : '<-' ;
ASSIGN : '=' ;
RANGE : '..' ;
DOT : '.' ;
COLON : ':' ;
COMMA : ',' ;
PIN : '@' ;
OPEN_PAREN : '(' ;
CLOSE_PAREN : ')' ;
OPEN_BRACKET : '[' ;
CLOSE_BRACKET : ']' ;
OPEN_BRACE : '{' ;
CLOSE_BRACE : '}' ;

STRING_BEGIN : '"' ;

FLOAT : DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT ;
INT : DIGITS ;
NAME : [\p{L}_] [\p{L}\p{M}\p{N}_]* ;

NEWLINE : '\n' ;
SEMICOLON : ';' ;
COMMENT : '#' ~[\n]* -> skip ;
SPACE : [ \t\r\f\u00A0]+ -> skip ;

// What other languages write; each has its own hint.
FOREIGN : ':=' | '&&' | '||' | '!' | '+=' | '-=' | '*=' | '/=' | '//=' | '%=' | '**=' | '@=' | '++'
        | '===' | '!==' | '&' | '|' | '^' | '~' | '?' | '\\' | '$' | '\'' | '`' | '...' | '=>' ;
UNKNOWN : . ;

fragment DIGITS : [0-9]+ ('_' [0-9]+)* ;
fragment EXPONENT : [eE] [+-]? DIGITS ;
