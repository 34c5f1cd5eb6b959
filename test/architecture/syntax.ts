import { posix } from "node:path";
import ts from "typescript";
import { CODE, type Source, type Violation } from "./source.ts";

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** A path of this repository for `./x.ts`, else the specifier. `undefined`: the name is computed. */
  readonly target: string | undefined;
  readonly names: readonly string[];
  readonly node: ts.Node;
}

const parsed = new WeakMap<Source, ts.SourceFile>();

/** The syntax tree of a file; parsed once, whatever the number of rules. */
export function parse(source: Source): ts.SourceFile {
  const known = parsed.get(source);
  if (known) return known;
  const tree = ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ESNext, true);
  parsed.set(source, tree);
  return tree;
}

/** What `visit` returns for the nodes of a code file, parents first. Other files have no nodes. */
export function inspect(source: Source, visit: (node: ts.Node) => string | undefined): readonly Violation[] {
  if (!CODE.test(source.path)) return [];
  const found: Violation[] = [];
  const walk = (node: ts.Node) => {
    const message = visit(node);
    if (message !== undefined) found.push(violation(source, node, message));
    ts.forEachChild(node, walk);
  };
  walk(parse(source));
  return found;
}

export function violation(source: Source, node: ts.Node, message: string): Violation {
  return { path: source.path, line: lineOf(source, node.getStart(parse(source))), message };
}

/** Counted from 1. */
export function lineOf(source: Source, position: number): number {
  return parse(source).getLineAndCharacterOfPosition(position).line + 1;
}

/** Everything that a file imports: `import`, `export … from`, `import()`, `require()`, `import("x").T`. */
export function importsOf(source: Source): readonly Import[] {
  if (!CODE.test(source.path)) return [];
  const found: Import[] = [];
  const walk = (node: ts.Node) => {
    const imported = readImport(source.path, node);
    if (imported) found.push(imported);
    ts.forEachChild(node, walk);
  };
  walk(parse(source));
  return found;
}

function readImport(path: string, node: ts.Node): Import | undefined {
  const specifierNode = specifierOf(node);
  if (!specifierNode) return undefined;
  if (!ts.isStringLiteralLike(specifierNode)) {
    return { specifier: specifierNode.getText(), target: undefined, names: [], node };
  }
  const specifier = specifierNode.text;
  const isRelative = specifier.startsWith(".");
  const target = isRelative ? posix.join(posix.dirname(path), specifier) : specifier;
  return { specifier, target, names: importedNames(node), node };
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument;
  if (!ts.isCallExpression(node)) return undefined;
  const isDynamic = node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === "require";
  return isDynamic || isRequire ? node.arguments[0] : undefined;
}

function importedNames(node: ts.Node): readonly string[] {
  if (!ts.isImportDeclaration(node)) return [];
  const bindings = node.importClause?.namedBindings;
  if (!bindings || !ts.isNamedImports(bindings)) return [];
  return bindings.elements.map((element) => (element.propertyName ?? element.name).text);
}
