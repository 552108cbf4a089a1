package io.idempotency.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.Locale;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Reads {@code idempotency.store}. If the value is unknown, startup fails with an error
 * that names the property.
 */
final class OnStoreTypeCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		StoreType[] wanted = metadata.getAnnotations()
			.get(ConditionalOnStoreType.class)
			.getValue("value", StoreType[].class)
			.orElseThrow();
		StoreType type = Binder.get(context.getEnvironment())
			.bind("idempotency.store", StoreType.class)
			.orElse(StoreType.AUTO);
		ConditionMessage message = ConditionMessage.forCondition(ConditionalOnStoreType.class)
			.because("idempotency.store is " + type.name().toLowerCase(Locale.ROOT));
		return new ConditionOutcome(Arrays.asList(wanted).contains(type), message);
	}

	/** Matches if {@code idempotency.store} is one of the given types. */
	@Target(ElementType.TYPE)
	@Retention(RetentionPolicy.RUNTIME)
	@Conditional(OnStoreTypeCondition.class)
	@interface ConditionalOnStoreType {

		StoreType[] value();

	}

}
