package io.idempotency.autoconfigure;

import java.lang.reflect.Type;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.codec.json.Jackson3ResultCodec;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/**
 * The codecs for the results of methods, if the application does not declare one. The
 * first configuration that matches wins: Jackson 3 unless the application has only a
 * mapper of Jackson 2, then Jackson 2, then a codec that stores only "done". They are
 * imported one by one, because nested configurations have no reliable order.
 */
final class ResultCodecConfigurations {

	private ResultCodecConfigurations() {
	}

	/** Declares the codec for Jackson 3, with the application's mapper if it has one. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(JsonMapper.class)
	@Conditional(Jackson3.NoOtherMapper.class)
	@ConditionalOnMissingBean(ResultCodec.class)
	static class Jackson3 {

		@Bean
		Jackson3ResultCodec idempotencyResultCodec(ObjectProvider<JsonMapper> mapper) {
			JsonMapper unique = mapper.getIfUnique();
			return (unique != null) ? new Jackson3ResultCodec(unique) : new Jackson3ResultCodec();
		}

		/**
		 * Does not match if the application has only a mapper of Jackson 2: then Jackson
		 * 3 may be on the class path only because some library needs it.
		 */
		static class NoOtherMapper extends AnyNestedCondition {

			NoOtherMapper() {
				super(ConfigurationPhase.REGISTER_BEAN);
			}

			@ConditionalOnBean(type = "tools.jackson.databind.json.JsonMapper")
			static class Jackson3Mapper {

			}

			@ConditionalOnMissingBean(type = "com.fasterxml.jackson.databind.ObjectMapper")
			static class NoJackson2Mapper {

			}

		}

	}

	/** Declares the codec for Jackson 2, with the application's mapper if it has one. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObjectMapper.class)
	@ConditionalOnMissingBean(ResultCodec.class)
	static class Jackson2 {

		@Bean
		Jackson2ResultCodec idempotencyResultCodec(ObjectProvider<ObjectMapper> mapper) {
			ObjectMapper unique = mapper.getIfUnique();
			return (unique != null) ? new Jackson2ResultCodec(unique) : new Jackson2ResultCodec();
		}

	}

	/**
	 * Declares the codec for an application without a JSON library: responses of
	 * controllers can be stored, results of methods cannot.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(ResultCodec.class)
	static class NoResultsWithoutJackson {

		@Bean
		VoidResultCodec idempotencyResultCodec() {
			return new VoidResultCodec();
		}

	}

	/**
	 * The codec for an application without a JSON library. It can only store that a
	 * method completed. Responses of controllers are bytes and need no codec.
	 */
	static final class VoidResultCodec implements ResultCodec {

		private static final String FORMAT = "void1";

		@Override
		public StoredResult encode(@Nullable Object value, Type type) {
			if (value != null) {
				throw new IllegalStateException(problem(type));
			}
			return new StoredResult(FORMAT, new byte[0]);
		}

		@Override
		public @Nullable Object decode(StoredResult result, Type type) {
			if (!FORMAT.equals(result.format())) {
				throw new UnreadableResultException(problem(type));
			}
			return null;
		}

		@Override
		public @Nullable String unsupported(Type type) {
			return (type == void.class || type == Void.class) ? null : problem(type);
		}

		@Override
		public String incomparable(Type type) {
			return "values of type " + type.getTypeName() + " cannot be compared without a JSON library: add Jackson";
		}

		private static String problem(Type type) {
			return "results of type " + type.getTypeName()
					+ " cannot be stored without a JSON library: add Jackson (spring-boot-starter-json), or declare a bean of type "
					+ ResultCodec.class.getName();
		}

	}

}
