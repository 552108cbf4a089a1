package io.idempotency.autoconfigure.engine;

import io.idempotency.codec.json.Jackson3ResultCodec;
import io.idempotency.protocol.ResultCodec;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Declares the codec for Jackson 3, with the application's mapper if it has one. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(JsonMapper.class)
@Conditional(Jackson3CodecConfiguration.NoOtherMapper.class)
@ConditionalOnMissingBean(ResultCodec.class)
class Jackson3CodecConfiguration {

	@Bean
	Jackson3ResultCodec idempotencyResultCodec(ObjectProvider<JsonMapper> mapper) {
		JsonMapper unique = mapper.getIfUnique();
		return (unique != null) ? new Jackson3ResultCodec(unique) : new Jackson3ResultCodec();
	}

	/**
	 * Does not match if the application has only a mapper of Jackson 2: then Jackson 3
	 * may be on the class path only because some library needs it.
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
