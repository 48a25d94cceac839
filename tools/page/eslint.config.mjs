import eslint from 'eslint/config';
import typescript from 'typescript-eslint';

// Rules of types find what is never undefined, compared or awaited by mistake.
export default eslint.defineConfig(
  { ignores: ['cupelinspect/page/page.js'] },
  typescript.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: [`${import.meta.dirname}/tsconfig.json`] } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'eqeqeq': 'error',
      'max-lines': ['error', 600],
      'no-implied-eval': 'error',
      'no-restricted-properties': ['error', ...['createElement', 'createElementNS', 'write'].map((property) => ({ object: 'document', property, message: 'Preact makes the elements.' }))],
      'no-restricted-syntax': ['error',
        { selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]', message: 'Data is never parsed as markup.' },
        { selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]', message: 'Data is never parsed as markup.' }],
      'no-var': 'error',
      'prefer-const': 'error',
      'radix': 'error',
      // Numbers and element references in texts and attributes are meant.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-empty-function': 'off',
    },
  },
);
