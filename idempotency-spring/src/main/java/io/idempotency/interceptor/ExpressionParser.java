package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.NativeDetector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;

/**
 * Parses and checks the expressions of operations, once for each operation. Thread-safe.
 */
final class ExpressionParser {

	private final SpelExpressionParser parser;

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

	ExpressionParser(ConfigurableBeanFactory beanFactory) {
		ClassLoader classLoader = beanFactory.getBeanClassLoader();
		// SpEL compiles an expression that is used often, and interprets it again if the
		// types of the arguments change. A native image cannot define classes.
		SpelCompilerMode mode = NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED;
		this.parser = new SpelExpressionParser(new SpelParserConfiguration(mode, classLoader));
		this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
		this.shared.setTypeLocator(new StandardTypeLocator(classLoader));
	}

	/**
	 * Parses an expression.
	 * @param attribute the attribute that contains the expression, for messages
	 * @throws io.idempotency.IdempotencyConfigurationException if the expression cannot
	 * be parsed, or refers to a variable or property that does not exist
	 */
	OperationExpression parse(String attribute, String text, IdempotentAnnotation annotation) {
		SpelExpression expression;
		try {
			expression = this.parser.parseRaw(text);
		}
		catch (ParseException | IllegalStateException ex) {
			throw annotation.problem("its " + attribute + " expression '" + text + "' is not SpEL: " + ex.getMessage(),
					"Correct the expression, e.g. \"#order.id\"", ex);
		}
		Map<String, Integer> variables = variables(annotation);
		Set<String> rootMembers = new ExpressionCheck(annotation, attribute, text, variables,
				hasNames(annotation.method()))
			.check(expression.getAST());
		return new OperationExpression(attribute, annotation.guarded().describe(), expression, variables, this.shared,
				rootMembers);
	}

	private boolean hasNames(Method method) {
		return method.getParameterCount() == 0 || this.names.getParameterNames(method) != null;
	}

	/**
	 * Returns the variables and the positions of their arguments. Names of parameters
	 * take precedence over {@code a0} and {@code p0}. The names of the method take
	 * precedence over the names in its interface.
	 */
	private Map<String, Integer> variables(IdempotentAnnotation annotation) {
		Map<String, Integer> variables = new HashMap<>();
		addNames(variables, this.names.getParameterNames(annotation.method()));
		addNames(variables, this.names.getParameterNames(annotation.declaringMethod()));
		for (int i = 0; i < annotation.method().getParameterCount(); i++) {
			variables.putIfAbsent("a" + i, i);
			variables.putIfAbsent("p" + i, i);
		}
		return Map.copyOf(variables);
	}

	private static void addNames(Map<String, Integer> variables, @Nullable String @Nullable [] names) {
		if (names == null) {
			return;
		}
		for (int i = 0; i < names.length; i++) {
			if (names[i] != null) {
				variables.putIfAbsent(names[i], i);
			}
		}
	}

}
