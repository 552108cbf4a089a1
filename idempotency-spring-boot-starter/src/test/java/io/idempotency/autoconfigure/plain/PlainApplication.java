package io.idempotency.autoconfigure.plain;

import java.util.Arrays;
import java.util.List;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Knows nothing of the library, in a package of its own that Spring Boot may scan. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableCaching
@EnableScheduling
@EnableAsync
public class PlainApplication {

	/** Returns names and types of the beans that are not those of the library. */
	public static List<String> beanTypes() {
		SpringApplicationBuilder application = new SpringApplicationBuilder(PlainApplication.class)
			.web(WebApplicationType.NONE)
			.properties("logging.level.root=off", "spring.main.banner-mode=off", "idempotency.store=memory",
					"spring.main.register-shutdown-hook=false");
		try (ConfigurableApplicationContext context = application.run()) {
			return Arrays.stream(context.getBeanDefinitionNames())
				.map((name) -> name + " " + context.getBean(name).getClass().getName().replaceAll("\\$\\$.*", ""))
				.filter((bean) -> !bean.contains("idempotency"))
				.sorted()
				.toList();
		}
	}

}
