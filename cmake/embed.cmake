# cmake -DOUT=file.c -DARRAY=name -DHEADER=name.h -DTYPE=Name "-DFILES=a.cu;b.h" -P embed.cmake: the texts as arrays of bytes, which have no
# limit of length.
set(arrays "")
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} id)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "static const char text_${id}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${name}\", text_${id}},\n")
endforeach()
file(WRITE ${OUT} "#include \"${HEADER}\"\n${arrays}const ${TYPE} ${ARRAY}[] = {\n${entries}    {0, 0}};\n")
